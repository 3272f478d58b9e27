/** A store of one's own: locks between machines, kept by the server in this folder. */
import { type Queue, type Store, StoreError, type Traits } from 'holdfast';
import type { ClaimStatus } from 'holdfast/store';
import { fromJson, type Question, toJson } from './talk.ts';

const TRAITS: Traits = {
  queue: true,
  tokens: 'server-clock',
  clock: 'server',
  reach: 'network',
  permits: true,
  atomicTry: true,
  sequential: true,
};

/** A store on the lock server at this URL. */
export function lockServerStore(url: string): Store {
  let lineage = 'lock-server';

  async function ask<T>(verb: Question['verb'], rest: Partial<Question>): Promise<T> {
    const question: Question = { verb, claims: [], afterMs: 0, resource: '', ...rest };
    const response = await fetch(url, { method: 'POST', body: toJson(question) }).catch((cause) => {
      // Where no server listens, nothing has happened; other failures may have come after the work.
      const outcome = cause.cause?.code === 'ECONNREFUSED' ? 'failed' : 'unknown';
      const message = `The lock server at ${url} cannot be reached.`;
      throw new StoreError(message, { cause, retryable: true, outcome });
    });
    const said = fromJson(await response.text()) as { lineage: string; answer: T };
    lineage = said.lineage;
    return said.answer;
  }

  return {
    name: 'lock-server',
    traits: TRAITS,
    get lineage() {
      return lineage;
    },
    claim: (claims) => ask<ClaimStatus[]>('claim', { claims }),
    renew: (claims) => ask<ClaimStatus[]>('renew', { claims }),
    release: (claims, after) => ask<boolean[]>('release', { claims, afterMs: after?.ms ?? 0 }),
    inspect: (resource) => ask<Queue>('inspect', { resource }),
  };
}
