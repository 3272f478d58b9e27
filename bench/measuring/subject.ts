/** What is measured: a store, who wants its locks, and what its server says of its work. */

/** Lets a lock go. */
export type Release = () => unknown;

/**
 * One task that wants a lock, again and again. Fails if the library gives up. Some floors return at
 * once: waiting for them would be a cost that they do not have.
 */
export type Acquire = () => Release | Promise<Release>;

/** Connected, with one client for the whole process. */
export interface Connected {
  /** A task of its own that wants this resource. */
  task(resource: string): Acquire;
  close(): unknown;
}

export type Connect = (url: string) => Connected | Promise<Connected>;

/** Of the lease of every contender. */
export const TTL_MS = 10_000;

/** Where a store is. */
export interface Place {
  readonly url: string;
  /** The processes of its servers, if they are known. */
  readonly pids: readonly number[];
}

/** How much was done so far, by what: `commands`, `server CPU µs`. */
export type Work = Readonly<Record<string, number>>;

export interface Observer {
  work(contender?: string): Promise<Work>;
  /** What its data takes, as the server estimates it. */
  bytes?(): Promise<number>;
  close?(): unknown;
}

export interface Watched {
  /** As the tables say it. */
  readonly name: string;
  /** What its clients ask for, in `Work`. */
  readonly asks: string;
  /** Makes the tables of all contenders. */
  observe(place: Place): Observer | Promise<Observer>;
}

export interface Subject extends Watched {
  /** By the names that the tables show; workers get them as text. */
  readonly contenders: Readonly<Record<string, Connect>>;
  /** Who wants free locks, in groups that are compared, the floor first. */
  readonly alone: readonly (readonly string[])[];
  /** So many pairs a round one after another, and with 64 resources at once. */
  readonly pairs: readonly [number, number];
  /** Of the ratio of rates, for both. */
  readonly goals?: readonly [number, number];
  /** Who wants the same lock, the floor first. */
  readonly contended: readonly string[];
  /** Goals of ours in a crowd: the most of each; `ratio` is that of the gap to the floor's. */
  readonly crowd?: Readonly<Record<string, number>>;
  /** What this process has done so far, where no server counts it. */
  counts?(): Work;
}

export function contender({ contenders }: Subject, name: string): Connect {
  const found = contenders[name];
  if (!found) throw new Error(`There is no contender ${name}.`);
  return found;
}

/** What was done between two looks. */
export function difference(after: Work, before: Work): Work {
  return Object.fromEntries(
    Object.entries(after).map(([name, n]) => [name, n - (before[name] ?? 0)]),
  );
}
