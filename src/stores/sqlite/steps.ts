/**
 * Steps of queues, in a transaction: each queue is read once for all that is to be done with it,
 * changed by the rule, and written back.
 *
 * Invariant: a new claim's seq exceeds every seq that its resource has ever had. The clock is read
 * after the write lock was taken, so it is later than all readings under earlier write locks; a
 * queue that is ahead of the clock all the same is continued from its end. So tokens grow although
 * nothing is kept of an idle resource.
 * Nothing here wakes a claim: `told` collects those to be woken after the commit.
 * What would break it: a clock read before the write lock, a base that is not the file's, or waking
 * a claim before the commit.
 */
import { toText } from '../../clients/sql/name-text.ts';
import type { Claim, ClaimStatus } from '../../contract/store.ts';
import type { ClaimQueue } from '../../queue/queue.ts';
import { grouped } from '../grouped.ts';
import type { Machine } from './machine.ts';
import { type Extent, QueuePart } from './queue-part.ts';
import type { Statements } from './statements.ts';

export interface StepParts {
  readonly statements: Statements;
  readonly machine: Machine;
  /** The address at which this process listens. */
  readonly address: string;
  /** How many waiters of a queue are read at first. */
  readonly front: number;
}

/** Where a claim of this process stands, as far as it is known. */
export interface Place {
  readonly seq: number;
  /** It held when it was last seen, and no other waited. */
  readonly quiet: boolean;
}

/** A claim whose process should look at it; `resource` is a text of the file. */
export interface Told {
  readonly resource: string;
  readonly seq: number;
  readonly address: string;
}

/** Which claim was told, and what is true of it now. */
export interface Seen {
  readonly id: string;
  readonly status: ClaimStatus;
}

/** The time of a step in ms, and the number of a claim that enters then. */
interface Moment {
  readonly now: number;
  readonly number: bigint;
}

/** What to read, where it is not what most steps need. */
type Wanted = Partial<Omit<Extent, 'name' | 'now'>>;

/** Counting further would cost time and help no caller. */
const MOST_COUNTED = 100;

export class Steps {
  readonly sql: Statements;
  readonly address: string;
  /** Saves looking for this process's claims by id. */
  readonly places: Map<string, Place> = new Map();
  told: Told[] = [];
  /** Numbers count from it, as far as it is known: that of the file may be another by now. */
  base = 0;
  /** When the transaction began, in µs. */
  now = 0;
  readonly #parts: StepParts;

  constructor(parts: StepParts) {
    this.sql = parts.statements;
    this.address = parts.address;
    this.#parts = parts;
  }

  /** To be called in each transaction, first. No two readings of the clock are alike. */
  begin(): void {
    this.told = [];
    const before = this.now;
    do this.now = this.#parts.machine.nowUs();
    while (this.now <= before);
  }

  /** A step for each claim that is not done yet. */
  each<T>(
    claims: readonly Claim[],
    done: Map<string, T>,
    step: (claim: Claim, queue: ClaimQueue, moment: Moment) => T,
    counted: number = MOST_COUNTED,
  ): T[] {
    const answers: T[] = [];
    const open: { readonly claim: Claim; readonly at: number }[] = [];
    claims.forEach((claim, at) => {
      const answer = done.get(claim.id);
      if (answer === undefined) open.push({ claim, at });
      else answers[at] = answer;
      // Another copy of it in this batch comes after the one that is done.
      done.delete(claim.id);
    });
    for (const [resource, those] of grouped(open, ({ claim }) => claim.resource)) {
      const ids = those.map(({ claim }) => claim.id);
      const seqs = ids.flatMap((id) => this.places.get(id)?.seq ?? []);
      const found = this.on(resource, { ids, seqs, counted }, (queue, moment) =>
        those.map(({ claim }) => step(claim, queue, moment)),
      );
      those.forEach(({ at }, nth) => {
        answers[at] = found[nth] as T;
      });
    }
    return answers;
  }

  /** Does a step, which may do nothing but change the queue, on as much of it as it looks at. */
  on<T>(resource: string, wanted: Wanted, step: (queue: ClaimQueue, moment: Moment) => T): T {
    const name = toText(resource);
    for (let front = wanted.front ?? this.#parts.front; ; front = 8 * (front + 1)) {
      const part = this.#read(name, wanted, front);
      const { queue } = part;
      const number = BigInt(this.base + this.now);
      const answer = step(queue, { now: this.now / 1000, number });
      if (!part.isEnough) continue;
      part.write(this.sql, this.address);
      for (const entry of queue.takeTold()) {
        const address = part.addressOf(entry) ?? this.address;
        this.told.push({ resource: name, seq: Number(entry.number), address });
      }
      this.#note(queue, wanted.ids ?? []);
      return answer;
    }
  }

  /** Each of these claims that is still there. */
  look(told: readonly Told[]): Map<Told, Seen> {
    const now = this.now / 1000;
    const seen = new Map<Told, Seen>();
    for (const [name, those] of grouped(told, ({ resource }) => resource)) {
      const { queue } = this.#read(name, { seqs: those.map(({ seq }) => seq) });
      const entries = new Map([...queue.claims].map((entry) => [Number(entry.number), entry]));
      for (const each of those) {
        const entry = entries.get(each.seq);
        if (!entry) continue;
        seen.set(each, { id: entry.id, status: queue.statusOf(entry, now) });
        this.#note(queue, [entry.id]);
      }
    }
    return seen;
  }

  #read(name: string, wanted: Wanted, front = this.#parts.front): QueuePart {
    const { ids = [], seqs = [], counted = MOST_COUNTED, holders = false } = wanted;
    const extent = { name, now: this.now, ids, seqs, front, counted, holders };
    const part = new QueuePart(this.sql, extent);
    this.base = part.base;
    return part;
  }

  #note(queue: ClaimQueue, ids: readonly string[]): void {
    let quiet = true;
    for (const { admitted } of queue.claims) quiet &&= admitted;
    for (const id of ids) {
      const entry = queue.find(id);
      if (entry) this.places.set(id, { seq: Number(entry.number), quiet });
      else this.places.delete(id);
    }
  }
}
