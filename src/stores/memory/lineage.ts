let instances = 0;

/** A new memory is a new source of tokens. */
export function newLineage(): string {
  return `memory:${process.pid}:${Date.now().toString(36)}:${++instances}`;
}
