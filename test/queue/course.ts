import type { Claim, ClaimQueue, Kind } from 'holdfast/store';
import { Chance } from '../methods/simulation/chance.ts';

const KINDS: readonly Kind[] = ['mutex', 'read', 'write', 'permits'];

/** The same steps on a queue for the same seed, at times that grow. */
export class Course {
  readonly #chance: Chance;
  readonly #kinds: readonly Kind[];
  readonly #claims: Claim[] = [];
  #now = 0;

  constructor(seed: number) {
    this.#chance = new Chance(seed);
    const kind = this.#chance.one(KINDS);
    this.#kinds = kind === 'read' ? ['read', 'write'] : [kind];
  }

  /** Does one thing, and returns all that can be seen of it. */
  step(queue: ClaimQueue): unknown {
    const chance = this.#chance;
    this.#now += chance.below(30);
    const claim = chance.one(this.#claims);
    const draw = claim ? chance.below(100) : 0;
    const answer = claim && draw >= 35 ? this.#change(queue, claim, draw) : this.enter(queue);
    const seen = queue.describe('r', this.#now);
    return [answer, seen, queue.takeTold().map(({ id }) => id)];
  }

  enter(queue: ClaimQueue): unknown {
    const chance = this.#chance;
    const claim: Claim = {
      resource: 'r',
      id: `${this.#claims.length}`,
      kind: chance.one(this.#kinds),
      permits: chance.between(1, 3),
      limit: chance.between(3, 4),
      ttlMs: chance.between(1, 200),
      queue: chance.share(0.8),
      holder: { host: 'h', pid: 1, since: 0, ...(chance.share(0.5) && { label: 'é "\0' }) },
    };
    this.#claims.push(claim);
    return queue.enter(claim, this.#now, { number: BigInt(chance.below(50)), maxWaiters: 4 });
  }

  #change(queue: ClaimQueue, claim: Claim, draw: number): unknown {
    const chance = this.#chance;
    const now = this.#now;
    if (draw < 55) return queue.beat(claim, now);
    const afterMs = chance.one([0, 0, 40]);
    const unanswered = chance.share(0.3);
    if (draw < 75) return queue.leave({ ...claim, unanswered }, now, afterMs);
    if (draw < 80) return queue.downgrade(claim, now);
    if (draw < 84) return queue.raise(claim, now, BigInt(chance.below(100)));
    if (draw < 88) return [queue.keep(claim, now, { text: 'x', ms: 50 }), queue.recall(now)];
    if (draw < 91) return queue.enter(claim, now, { number: 1n, maxWaiters: 4 });
    if (draw < 96) return this.#pass(queue, claim);
    const { holders, waiters } = queue.describe('r', now);
    const number = chance.one([...holders, ...waiters])?.number ?? 0n;
    const waiting = chance.share(0.3);
    return queue.evict(number, now, { reason: 'test', now: chance.share(0.5), waiting });
  }

  /** Gives what the claim holds, or takes what it gave. */
  #pass(queue: ClaimQueue, claim: Claim): unknown {
    const way = `way of ${claim.id}`;
    if (this.#chance.share(0.6)) {
      return queue.handOver(claim, { from: claim.id, to: way }, this.#now);
    }
    const ttlMs = this.#chance.between(1, 200);
    const taker: Claim = { ...claim, id: `${this.#claims.length}`, ttlMs };
    this.#claims.push(taker);
    return queue.handOver(taker, { from: way, to: taker.id }, this.#now);
  }
}
