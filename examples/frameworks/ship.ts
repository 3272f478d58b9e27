/** The work of these examples, which begins under a lock and stops when the lock is lost. */
export async function ship(order: string, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  return `sent ${order}`;
}
