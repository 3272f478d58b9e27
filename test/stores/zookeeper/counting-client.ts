/** A client that counts what is asked in its sessions, by the names of their methods. */
import type { ZookeeperClient, ZookeeperSession } from 'holdfast/zookeeper';

export interface Counting {
  readonly client: ZookeeperClient;
  /** How often each method has been called; a protected create counts as what it is made of. */
  readonly counts: ReadonlyMap<string, number>;
  /** The same, since this was asked last. */
  asked(): Readonly<Record<string, number>>;
  /** In the order in which they were started. */
  readonly sessions: readonly ZookeeperSession[];
}

/** They look at what is there, or ask for nothing. */
const SILENT = new Set(['now', 'listen']);

export function counting(client: ZookeeperClient): Counting {
  const counts = new Map<string, number>();
  const sessions: ZookeeperSession[] = [];
  const counted = (session: ZookeeperSession): ZookeeperSession =>
    new Proxy(session, {
      get: (target, name: keyof ZookeeperSession) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (!SILENT.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
          return value.apply(target, args) as unknown;
        };
      },
    });
  let before = new Map<string, number>();
  return {
    counts,
    sessions,
    asked() {
      const since = [...counts].map(
        ([name, count]) => [name, count - (before.get(name) ?? 0)] as const,
      );
      before = new Map(counts);
      return Object.fromEntries(since.filter(([, count]) => count > 0));
    },
    client: {
      start: (timeoutMs) => {
        const session = client.start(timeoutMs);
        sessions.push(session);
        return counted(session);
      },
    },
  };
}
