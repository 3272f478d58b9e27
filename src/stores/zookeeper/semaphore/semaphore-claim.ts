/**
 * One claim for permits of an `InterProcessSemaphoreV2`, as claims of a ZooKeeper store: one for
 * the mutex of the semaphore, the gate, and one for each permit, its leases.
 *
 * It asks for the gate; while it has that, for its leases; and gives the gate back when it holds
 * them all. Its steps come one after the other, whether core or a hint asks for them.
 */
import { createHash } from 'node:crypto';
import { UNKNOWN } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, Store, Wake } from '../../../contract/store.ts';
import { gateOf, leasesOf } from '../layout.ts';

type Stage = 'gate' | 'leases' | 'held';

export class SemaphoreClaim {
  readonly gate: Claim;
  readonly leases: readonly Claim[];
  readonly #store: Store;
  readonly #standing: Readonly<Record<Stage, readonly Claim[]>>;
  #stage: Stage;
  /** Whether anything may be there. */
  begun = false;
  /** The gate is known to have been asked for, or had. */
  #entered = false;
  #left = false;
  #last: Promise<unknown> = Promise.resolve();

  /** `stage`: how far another process, or an earlier one, may have come with it. */
  constructor(store: Store, claim: Claim, stage: Stage = 'gate') {
    this.#store = store;
    this.#stage = stage;
    const { resource } = claim;
    // A lock of one holder is what Curator calls an `InterProcessSemaphoreMutex`.
    const { permits, limit } = claim.kind === 'permits' ? claim : { permits: 1, limit: 1 };
    const one = { ...claim, permits: 1 };
    this.gate = { ...one, kind: 'mutex', limit: 1, resource: gateOf(resource) };
    this.leases = Array.from({ length: permits }, (_, n) => {
      return { ...one, kind: 'permits', limit, resource: leasesOf(resource), id: idOf(claim, n) };
    });
    const { gate, leases } = this;
    this.#standing = { gate: [gate], leases: [gate, ...leases], held: leases };
  }

  get holds(): boolean {
    return this.#stage === 'held';
  }

  /** Its claims that may be there: the same array until that changes. */
  get standing(): readonly Claim[] {
    return this.#standing[this.#stage];
  }

  /** Takes the next step that it can take; one that waits lives on by it. */
  async again(): Promise<ClaimStatus> {
    const parts = this.standing;
    if (!this.#entered || this.holds) return this.ask();
    return this.statusOf(parts, await this.#store.renew(parts));
  }

  /** Takes the next step that it can take. */
  ask(): Promise<ClaimStatus> {
    this.begun = true;
    const step = this.#last.then(() => this.#ask());
    this.#last = step.catch(() => {});
    return step;
  }

  /** What heartbeats of `parts`, its `standing` of then, have returned. */
  async statusOf(parts: readonly Claim[], statuses: readonly ClaimStatus[]): Promise<ClaimStatus> {
    // A hint was quicker, and these are of a step before.
    if (parts !== this.standing) return this.ask();
    const status = together(statuses);
    const moves = !this.holds && statuses[0]?.state === 'held';
    return moves && status.state !== 'gone' ? this.ask() : this.#end(status);
  }

  async leave(claim: Claim, after?: { readonly ms: number }): Promise<boolean> {
    this.#left = true;
    await this.#last;
    const { unanswered = false } = claim;
    const all = this.standing.map((part) => ({ ...part, unanswered }));
    return (await this.#store.release(all, after)).some(Boolean);
  }

  /** Wakes the claim for what its parts are woken for. */
  watch(wake: Wake): Promise<readonly (AsyncDisposable | undefined)[]> {
    const woken = (hint?: ClaimStatus): void => {
      const moves = !this.holds && hint?.state === 'held';
      if (moves) this.ask().then(wake, () => wake());
      else wake(this.leases.length > 1 ? undefined : hint);
    };
    return Promise.all([this.gate, ...this.leases].map((part) => this.#store.watch?.(part, woken)));
  }

  async #ask(): Promise<ClaimStatus> {
    const store = this.#store;
    if (this.#left) return UNKNOWN;
    if (this.#stage === 'gate') {
      const [status = UNKNOWN] = await store.claim([this.gate]);
      this.#entered ||= status.state === 'held' || status.state === 'waiting';
      if (status.state !== 'held') return status;
      if (this.#left) return UNKNOWN;
      this.#stage = 'leases';
    }
    const status = together(await store.claim(this.leases));
    if (status.state === 'held' && !this.holds) {
      this.#stage = 'held';
      // If that fails, its store tries again.
      await store.release([this.gate]).catch(() => {});
    }
    return this.#end(status);
  }

  /** One part that has gone takes the others along. */
  async #end(status: ClaimStatus): Promise<ClaimStatus> {
    if (status.state !== 'gone') return status;
    this.#left = true;
    if (this.standing.length > 1) await this.#store.release(this.standing).catch(() => {});
    return status;
  }
}

/** The same at each attempt, and in each process. */
function idOf({ id }: Claim, n: number): string {
  return createHash('sha256').update(`${id} ${n}`).digest('hex').slice(0, id.length);
}

/** The status of several parts: the worst of any. */
function together(statuses: readonly ClaimStatus[]): ClaimStatus {
  const one = (state: ClaimStatus['state']) => statuses.find((each) => each.state === state);
  const worst = one('gone') ?? one('error') ?? one('waiting') ?? one('held') ?? UNKNOWN;
  if (!('leftMs' in worst)) return worst;
  const leftMs = Math.min(...statuses.map((each) => ('leftMs' in each ? each.leftMs : 0)));
  return { ...worst, leftMs };
}
