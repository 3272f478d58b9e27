/**
 * The verbs, inside one transaction: claims that concern no other claim in one statement, all
 * others as steps of their queues.
 */
import type { Claim, ClaimStatus, Queue } from '../../contract/store.ts';
import { enterEmpty, leaveQuiet, renewQuiet } from './quiet.ts';
import { type StepParts, Steps } from './steps.ts';

interface Parts extends StepParts {
  readonly maxWaiters: number;
  /** Claims of this process that were in a file which is gone. */
  readonly lost: Set<string>;
}

/** A dead holder without a successor stays for a day, so that the next claim learns of it. */
const KEEP_DEAD_US = 86_400_000_000;

export class Queues {
  readonly steps: Steps;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.steps = new Steps(parts);
  }

  /** Work that need not be done at every step. */
  sweep(): void {
    const { sql, places, address, now } = this.steps;
    sql.refresh.run(now);
    sql.sweepTombstones.run(now);
    sql.sweepClaims.run(now - KEEP_DEAD_US);
    const rows = sql.ids.all(address) as { id: string }[];
    const ids = new Set(rows.map((row) => row.id));
    for (const id of places.keys()) if (!ids.has(id)) places.delete(id);
  }

  claim(claims: readonly Claim[]): ClaimStatus[] {
    const { maxWaiters } = this.#parts;
    return this.steps.each(
      claims,
      enterEmpty(this.steps, claims),
      (claim, queue, { now, number }) => queue.enter(claim, now, { number, maxWaiters }),
      maxWaiters + 1,
    );
  }

  renew(claims: readonly Claim[]): ClaimStatus[] {
    const done = renewQuiet(this.steps, claims);
    return this.steps
      .each(claims, done, (claim, queue, { now }) => queue.beat(claim, now))
      .map((status, i) => this.#orLost(claims[i] as Claim, status));
  }

  release(claims: readonly Claim[], afterMs: number): boolean[] {
    const done = leaveQuiet(this.steps, afterMs > 0 ? [] : claims);
    const left = this.steps.each(claims, done, (claim, queue, { now }) =>
      queue.leave(claim, now, afterMs),
    );
    for (const { id } of claims) {
      this.steps.places.delete(id);
      this.#parts.lost.delete(id);
    }
    return left;
  }

  inspect(resource: string): Queue {
    const all = { front: Number.MAX_SAFE_INTEGER, holders: true };
    return this.steps.on(resource, all, (queue, { now }) => queue.describe(resource, now));
  }

  downgrade(claim: Claim): ClaimStatus {
    const { id, resource } = claim;
    const status = this.steps.on(resource, { ids: [id] }, (queue, { now }) =>
      queue.downgrade(claim, now),
    );
    return this.#orLost(claim, status);
  }

  /** True if a heartbeat would find that the claim holds; extends nothing. */
  holds(claim: Claim): boolean {
    return this.steps.on(claim.resource, { ids: [claim.id] }, (queue, { now }) =>
      queue.keep(claim, now, { text: '', ms: 0 }),
    );
  }

  evict(resource: string, number: bigint, how: { reason: string; now: boolean }): boolean {
    const { reason, now: atOnce } = how;
    return this.steps.on(resource, { seqs: [Number(number)] }, (queue, { now }) =>
      queue.evict(number, now, { reason, atOnce }),
    );
  }

  /** The texts of resources with live claims, in order, from one on. */
  names(from: string, count: number): string[] {
    const rows = this.steps.sql.names.all(from, this.steps.now, count);
    return (rows as { resource: string }[]).map((row) => row.resource);
  }

  /** The addresses of processes with live claims. */
  addresses(): Set<string> {
    const rows = this.steps.sql.addresses.all(this.steps.now);
    return new Set((rows as { address: string }[]).map((row) => row.address));
  }

  #orLost({ id }: Claim, status: ClaimStatus): ClaimStatus {
    if (status.state !== 'gone' || !this.#parts.lost.delete(id)) return status;
    return status.why === 'expired' ? { state: 'gone', why: 'store-reset' } : status;
  }
}
