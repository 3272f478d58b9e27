/** One store under test, seen by two processes, and what it has said so far. */
import type { Claim, ClaimStatus, Queue, Store } from '../../../src/contract/store.ts';
import { type Step, UNIT_MS } from './steps.ts';

/** So that the clock of the server does not reach it at once. */
const RAISE = 100_000_000n;

/**
 * The highest number that a store of this name has given in any world: where an idle queue leaves
 * nothing behind, a new claim goes on from that of all.
 */
const highest = new Map<string, bigint>();

export class Side {
  readonly #stores: readonly Store[];
  /** Whose a token is. Tokens are each store's own, so they are compared by that and by order. */
  readonly #whose = new Map<string, string>();
  readonly #watching: AsyncDisposable[] = [];
  /** The last one that each was told. */
  readonly hints: Map<string, string> = new Map();

  constructor(stores: readonly Store[]) {
    this.#stores = stores;
  }

  async watch(by: number, claim: Claim): Promise<void> {
    const watching = await this.#store(by).watch?.(claim, (hint) => {
      this.hints.set(labelOf(claim), hint && hint.state !== 'gone' ? hint.state : 'ask');
    });
    if (watching) this.#watching.push(watching);
  }

  async leave(): Promise<void> {
    for (const watching of this.#watching) await watching[Symbol.asyncDispose]();
  }

  /** Does the step with these claims, or to this resource, and says what is to be compared. */
  async run(step: Step, claims: readonly Claim[], resource: string): Promise<readonly unknown[]> {
    const store = this.#store(step.by);
    switch (step.verb) {
      case 'enter':
      case 'again':
        return this.#told(claims, await each(store, claims, (those) => store.claim(those)));
      case 'claimAll':
        return this.#told(claims, (await store.claimAll?.(claims)) ?? []);
      case 'renew':
        return this.#told(claims, await each(store, claims, (those) => store.renew(those)));
      case 'raise': {
        // No two alike: those who hold a resource together are told apart by their numbers.
        const numbers = claims.map((claim) => {
          return (highest.get(store.name) ?? 0n) + RAISE + BigInt(labelOf(claim));
        });
        return this.#told(claims, (await store.raise?.(claims, numbers)) ?? []);
      }
      case 'downgrade':
        return this.#told(claims, await Promise.all(claims.map((one) => store.downgrade?.(one))));
      case 'release':
        return each(store, claims, (those) => store.release(those, { ms: step.afterMs }));
      case 'keep':
        // Whoever keeps something has been told that it holds; then those who died are gone, too.
        await each(store, claims, (those) => store.renew(those));
        return Promise.all(claims.map((one) => store.keep?.(one, step)));
      case 'handOver': {
        const [claim, giver] = claims;
        if (!claim) throw new Error('nobody hands over');
        const way = wayOf(giver ?? claim);
        const ids = step.takes ? { from: way, to: claim.id } : { from: claim.id, to: way };
        return this.#told([claim], [await store.handOver?.(claim, ids)]);
      }
      case 'recall': {
        const kept = await store.recall?.(resource);
        return [kept ? { text: kept.text, life: units(kept.leftMs) } : 'nothing'];
      }
      case 'inspect':
        return this.#seen(resource, await store.inspect(resource));
      case 'evict': {
        const { holders, waiters } = await store.inspect(resource);
        const member = [...holders, ...waiters][step.at];
        const { now, waiting } = step;
        const options = { reason: `by ${step.by}`, now, waiting };
        return member ? [await store.evict?.(resource, member.number, options)] : ['nobody'];
      }
    }
  }

  /** The claims that have been seen to hold it, in the order of their tokens. */
  order(resource: string): readonly string[] {
    const tokens = [...this.#whose].filter(([key]) => key.startsWith(`${resource} `));
    const number = ([key]: readonly [string, string]) => Number(key.slice(resource.length + 1));
    return tokens.sort((a, b) => number(a) - number(b)).map(([, label]) => label);
  }

  #store(by: number): Store {
    return this.#stores[by] as Store;
  }

  #told(claims: readonly Claim[], statuses: readonly (ClaimStatus | undefined)[]): unknown[] {
    return statuses.map((status, i) => this.#status(claims[i] as Claim, status));
  }

  #status(claim: Claim, status: ClaimStatus | undefined): unknown {
    if (!status) throw new Error('no status');
    if (status.state === 'error') throw status.error;
    if (status.state === 'gone') {
      // Either of the kinds that share a queue may be named.
      const detail = status.detail?.replace(/(read|write) claims/, 'read or write claims');
      return { why: status.why, detail };
    }
    const common = { life: units(status.leftMs), limit: status.limit ?? 'own' };
    if (status.state === 'waiting') {
      const { why, ahead } = status;
      return { ...common, why, ahead, retry: units(status.retryInMs) };
    }
    this.#learn(claim.resource, status.token, labelOf(claim));
    const { takeover, waiters } = status;
    const label = takeover && this.#whose.get(`${claim.resource} ${takeover.token}`);
    return { ...common, waiters, takeover: takeover && `${takeover.reason} by ${label}` };
  }

  #seen(resource: string, { limit, holders, waiters }: Queue): unknown[] {
    for (const { number, holder } of holders) this.#learn(resource, number, String(holder.label));
    const show = (members: Queue['holders']) =>
      members.map(({ holder, kind, permits, ttlMs, leftMs }) => {
        return [holder.label, kind, permits, ttlMs, units(leftMs)].join(' ');
      });
    return [{ limit, holders: show(holders), waiters: show(waiters) }];
  }

  #learn(resource: string, token: bigint, label: string): void {
    this.#whose.set(`${resource} ${token}`, label);
    const { name } = this.#store(0);
    if (token > (highest.get(name) ?? 0n)) highest.set(name, token);
  }
}

/** In one batch, or in several where a batch takes each resource once. */
async function each<R>(
  { traits }: Store,
  claims: readonly Claim[],
  ask: (those: readonly Claim[]) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  if (traits.sequential) return ask(claims);
  const answers: R[] = [];
  let batch: Claim[] = [];
  for (const claim of claims) {
    if (batch.some(({ resource }) => resource === claim.resource)) {
      answers.push(...(await ask(batch)));
      batch = [];
    }
    batch.push(claim);
  }
  return batch.length === 0 ? answers : [...answers, ...(await ask(batch))];
}

export function labelOf({ holder }: Claim): string {
  return String(holder.label);
}

/** The id under which what it gave waits for whoever takes it. */
function wayOf({ id }: Claim): string {
  return [...id].reverse().join('');
}

/** The server's clock goes on between two pauses, that of the reference does not. */
function units(ms: number): number {
  // Sums of times that are no whole ms may be a little too large.
  return Math.ceil(ms / UNIT_MS - 1e-6);
}
