export type WarningCode = `HOLDFAST_${string}`;

/** Warnings of the process about a server, each once. */
export class Warnings {
  readonly #given = new Set<string>();

  warn(code: WarningCode, message: string): void {
    if (this.#given.has(code)) return;
    this.#given.add(code);
    process.emitWarning(message, { type: 'HoldfastWarning', code });
  }
}
