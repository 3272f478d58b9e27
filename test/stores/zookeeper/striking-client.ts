/** A client of which single requests can be made to fail, to get no answer, or to wait. */
import type { ZookeeperClient, ZookeeperSession } from 'holdfast/zookeeper';
import { connectionLoss } from '../../../src/clients/zookeeper/errors.ts';

/**
 * `unsent`: it fails before anything was sent. `lost`: it is not sent, and nobody can know.
 * `unanswered`: it is done, and nobody can know. A promise: it is sent when that is settled. A
 * function: it is sent when that has been done.
 */
export type Strike = 'unsent' | 'lost' | 'unanswered' | Promise<unknown> | (() => Promise<unknown>);

export interface Striking {
  readonly client: ZookeeperClient;
  /** The next request by this method of a session. */
  strike(method: keyof ZookeeperSession, how: Strike): void;
}

export function striking(client: ZookeeperClient): Striking {
  const strikes = new Map<PropertyKey, Strike>();
  const struck = (session: ZookeeperSession): ZookeeperSession =>
    new Proxy(session, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const how = strikes.get(name);
          strikes.delete(name);
          const ask = (): unknown => value.apply(target, args) as unknown;
          return how === undefined ? ask() : suffer(how, ask);
        };
      },
    });
  return {
    client: { start: (timeoutMs) => struck(client.start(timeoutMs)) },
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
