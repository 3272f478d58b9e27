let instances = 0;

/** Another memory is another source of tokens. */
export function newLineage(): string {
  return `memory:${process.pid}:${Date.now().toString(36)}:${++instances}`;
}
