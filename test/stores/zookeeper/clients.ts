/** Clients that count what is asked in their sessions, or let single requests fail or wait. */
import type { ZookeeperClient, ZookeeperSession } from 'holdfast/zookeeper';
import { connectionLoss } from '../../../src/clients/zookeeper/errors.ts';

export interface Counting {
  readonly client: ZookeeperClient;
  /** How often each method has been called since this was asked last, by their names. */
  asked(): Readonly<Record<string, number>>;
  /** In the order in which they were started. */
  readonly sessions: readonly ZookeeperSession[];
}

/** They look at what is there, or ask for nothing. */
const SILENT = new Set(['now', 'listen']);

export function counting(client: ZookeeperClient): Counting {
  let counts: Record<string, number> = {};
  const sessions: ZookeeperSession[] = [];
  return {
    sessions,
    asked() {
      const since = counts;
      counts = {};
      return since;
    },
    client: {
      start: (timeoutMs) => {
        const session = client.start(timeoutMs);
        sessions.push(session);
        return around(session, (method, ask) => {
          if (!SILENT.has(method)) counts[method] = (counts[method] ?? 0) + 1;
          return ask();
        });
      },
    },
  };
}

/**
 * `unsent`: it fails before anything was sent. `lost`: it is not sent, which its sender cannot
 * know. `unanswered`: it is done, which its sender cannot know. A promise: it is sent when that is
 * settled. A function: it is sent when that has been done.
 */
export type Strike = 'unsent' | 'lost' | 'unanswered' | Promise<unknown> | (() => Promise<unknown>);

export interface Striking {
  readonly client: ZookeeperClient;
  /** The next request by this method of a session. */
  strike(method: keyof ZookeeperSession, how: Strike): void;
}

export function striking(client: ZookeeperClient): Striking {
  const strikes = new Map<string, Strike>();
  const struck: Call = (method, ask) => {
    const how = strikes.get(method);
    strikes.delete(method);
    return how === undefined ? ask() : suffer(how, ask);
  };
  return {
    client: { start: (timeoutMs) => around(client.start(timeoutMs), struck) },
    strike: (method, how) => void strikes.set(method, how),
  };
}

async function suffer(how: Strike, ask: () => unknown): Promise<unknown> {
  if (typeof how === 'function') await how();
  else if (typeof how !== 'string') await how;
  else if (how !== 'unanswered') throw connectionLoss(new Error('cut'), how === 'lost');
  const answer = await ask();
  if (how === 'unanswered') throw connectionLoss(new Error('cut'), true);
  return answer;
}

type Call = (method: string, ask: () => unknown) => unknown;

/** A session whose methods are called through this. */
export function around(session: ZookeeperSession, call: Call): ZookeeperSession {
  return new Proxy(session, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => call(String(name), () => value.apply(target, args));
    },
  });
}
