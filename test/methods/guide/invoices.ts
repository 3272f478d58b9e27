import type { Locks } from 'holdfast';

/** Where the invoices are, and the way to the customers. */
export interface Post {
  due(): Promise<readonly string[]>;
  send(invoice: string): Promise<void>;
}

/** Sends what is due. Every machine calls this at the same hour; false if another one is at it. */
export async function sendInvoices(locks: Locks, post: Post): Promise<boolean> {
  const result = await locks.mutex('invoices').tryRun(async ({ signal }) => {
    for (const invoice of await post.due()) {
      signal.throwIfAborted();
      await post.send(invoice);
    }
  });
  return result.acquired;
}
