/** Warnings of the process about a database, each once. */
export class Warnings {
  readonly #told = new Set<string>();

  tell(code: `HOLDFAST_${string}`, message: string): void {
    if (this.#told.has(code)) return;
    this.#told.add(code);
    process.emitWarning(message, { type: 'HoldfastWarning', code });
  }
}
