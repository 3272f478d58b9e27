/** What takes part in a figure: ours, the floors and the other libraries. */

/** Lets a lock go. */
export type Release = () => Promise<unknown>;

/** One task that wants a lock, again and again. Rejects if the library gives up. */
export type Acquire = () => Promise<Release>;

/** Connected, with one client for the whole process. */
export interface Connected {
  /** A task of its own that wants this resource. */
  task(resource: string): Acquire;
  close(): Promise<unknown>;
}

export type Connect = (url: string) => Promise<Connected>;

/** Of the lease of every contender. */
export const TTL_MS = 10_000;
