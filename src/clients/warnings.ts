export type WarningCode = `HOLDFAST_${string}`;

/** Warnings of the process about a server, each once. */
export class Warnings {
  readonly #told = new Set<string>();

  tell(code: WarningCode, message: string): void {
    if (this.#told.has(code)) return;
    this.#told.add(code);
    process.emitWarning(message, { type: 'HoldfastWarning', code });
  }
}
