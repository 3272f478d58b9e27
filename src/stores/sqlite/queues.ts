/**
 * The verbs, inside one transaction: claims that concern no other claim in one statement, all
 * others as steps of their queues. A queue is read once for all its steps, changed by the rule, and
 * written back.
 *
 * Invariant: a new claim's seq exceeds every seq that its resource has ever had. The clock is read
 * after the write lock was taken, so it is later than all readings of steps before; a queue that is
 * ahead of the clock all the same is continued from its end. So tokens grow although nothing need
 * be kept of an idle resource. For `takeAlone`, which has no transaction, see quiet.ts.
 * Nothing here wakes a claim: `wakes` collects those to be woken after the commit.
 * What would break it: a clock read before the write lock, a base that is not the file's, or waking
 * a claim before the commit.
 */
import { toText } from '../../clients/sql/name-text.ts';
import type { FileConnection, SqliteStatement } from '../../clients/sqlite/connection.ts';
import type { Machine } from '../../clients/sqlite/machine.ts';
import { temporaryFailure } from '../../contract/errors.ts';
import { refusals } from '../../contract/gone.ts';
import type { Claim, ClaimStatus, Eviction, HandOver, Queue } from '../../contract/store.ts';
import type { ClaimQueue } from '../../queue/queue.ts';
import { grouped } from '../batch.ts';
import { lineOf } from '../status-lines.ts';
import { type Extent, PART_SQL, QueuePart } from './queue-part.ts';
import { Quiet } from './quiet.ts';
import { Records } from './records.ts';
import { ADDRESS_LENGTH } from './rows.ts';

export interface QueuesParts {
  readonly machine: Machine;
  /** The address at which this process listens. */
  readonly address: string;
  /** How many waiters of a queue are read at first. */
  readonly front: number;
  readonly maxWaiters: number;
  /** Claims of this process that were in a file which is gone. */
  readonly lost: Set<string>;
}

/** For the process of a claim: its status, which was true `at` this time. */
export interface ClaimWake {
  readonly address: string;
  readonly id: string;
  readonly at: number;
  /** Its status, as a line. */
  readonly said: string;
}

/** The time of a step in ms, and the number of a claim that enters then. */
interface Moment {
  readonly now: number;
  readonly number: bigint;
}

const SQL = {
  ...PART_SQL,
  /** From which name on, now, how many. */
  names: `SELECT DISTINCT resource FROM holdfast_claim WHERE resource >= ? AND expires > ?
    AND (place > 0 OR admitted = 1) ORDER BY resource LIMIT ?`,
  /** Address. */
  ids: `SELECT id FROM holdfast_claim WHERE substr(origin, 1, ${ADDRESS_LENGTH}) = ?`,
  /** Now, the wall clock. */
  refresh: 'UPDATE holdfast_meta SET highest = max(highest, base + ?), wall = ?',
  /** Now. */
  sweepTombstones: 'DELETE FROM holdfast_tombstone WHERE until <= ?',
  /** Dead since before this; now, by which the last claim on a free lock would be dead, too. */
  sweepClaims: `DELETE FROM holdfast_claim
    WHERE expires <= ? OR (place = 0 AND admitted = 0 AND expires <= ?)`,
} as const;

/** Readings of a clock that take longer than the longest step of one. */
const MANY = 1_000_000;
const STANDS_STILL = "This machine's clock stands still, or went back.";

/** A dead holder without a successor stays for a day, so that the next claim learns of it. */
const KEEP_DEAD_US = 86_400_000_000;

export class Queues {
  /** The claims of this process: true for those that held when last seen, with none waiting. */
  readonly known: Map<string, boolean> = new Map();
  wakes: ClaimWake[] = [];
  readonly records: Records;
  readonly address: string;
  /** Numbers count from it, as far as it is known: that of the file may be another by now. */
  base = 0;
  /** When the transaction began, in µs. */
  now = 0;
  readonly #connection: FileConnection;
  readonly #parts: QueuesParts;
  readonly #quiet: Quiet;
  readonly #sql: Readonly<Record<keyof typeof SQL, SqliteStatement>>;

  constructor(connection: FileConnection, parts: QueuesParts) {
    this.#connection = connection;
    this.#parts = parts;
    this.address = parts.address;
    this.records = new Records(connection, parts.machine);
    this.#quiet = new Quiet(connection);
    this.#sql = connection.prepareAll(SQL);
  }

  /** First in each transaction, which has a later time than all before. */
  begin(): void {
    this.wakes = [];
    const { machine } = this.#parts;
    let now = machine.nowUs();
    for (let again = 0; now <= this.now; again++) {
      if (again === MANY) throw temporaryFailure(STANDS_STILL);
      now = machine.nowUs();
    }
    this.now = now;
  }

  /** Work that need not be done at every step. */
  sweep(): void {
    this.#sql.refresh.run(this.now, this.#parts.machine.wallUs());
    this.#sql.sweepTombstones.run(this.now);
    this.#sql.sweepClaims.run(this.now - KEEP_DEAD_US, this.now);
    const rows = this.#sql.ids.all(this.address) as { id: string }[];
    const ids = new Set(rows.map((row) => row.id));
    for (const id of this.known.keys()) if (!ids.has(id)) this.known.delete(id);
    this.records.sweep();
  }

  /** One statement, which is a transaction by itself. Undefined if it has not taken the lock. */
  takeAlone(claim: Claim): ClaimStatus | undefined {
    this.begin();
    const status = this.#quiet.take(claim, this);
    return status && this.#noted(claim, status);
  }

  claim(claims: readonly Claim[]): ClaimStatus[] {
    const entered = this.#quiet.enter(claims, this);
    const statuses = this.#each<ClaimStatus>(claims, entered, (claim, queue, { now, number }) =>
      queue.enter(claim, now, { number, maxWaiters: this.#parts.maxWaiters }),
    );
    return statuses.map((status, i) => this.#noted(claims[i] as Claim, status));
  }

  /** All of these tries, or none. */
  claimAll(claims: readonly Claim[]): ClaimStatus[] {
    this.#connection.exec('SAVEPOINT tries');
    const statuses = this.claim(claims);
    const refused = refusals(statuses);
    if (!refused) return statuses;
    this.#connection.exec('ROLLBACK TO tries');
    this.wakes = [];
    for (const { id } of claims) this.known.delete(id);
    return refused;
  }

  renew(claims: readonly Claim[]): ClaimStatus[] {
    const renewed = this.#quiet.renew(claims.filter(this.#isAlone), this);
    const statuses = this.#each<ClaimStatus>(claims, renewed, (claim, queue, { now }) =>
      queue.beat(claim, now),
    );
    return statuses.map((status, i) => this.#noted(claims[i] as Claim, status));
  }

  /**
   * One statement, which is a transaction by itself: it draws no number, so it may have read the
   * clock before it has the write lock. False if the claim may concern others.
   */
  releaseAlone(claim: Claim): boolean {
    if (claim.unanswered || !this.#isAlone(claim)) return false;
    this.begin();
    const left = this.#quiet.leaveAlone(claim, this.now);
    // If it has not left, another try would be in vain.
    this.#forget(claim);
    return left;
  }

  release(claims: readonly Claim[], afterMs: number): boolean[] {
    const alone = afterMs > 0 ? [] : claims.filter(this.#isAlone);
    const answered = alone.filter(({ unanswered }) => !unanswered);
    const left = this.#quiet.leave(answered, this.now);
    const found = this.#each<boolean>(claims, left, (claim, queue, { now }) =>
      queue.leave(claim, now, afterMs),
    );
    for (const claim of claims) this.#forget(claim);
    return found;
  }

  #forget({ id }: Claim): void {
    this.known.delete(id);
    this.#parts.lost.delete(id);
  }

  inspect(resource: string): Queue {
    return this.#on(resource, { ...ALL, holders: true }, (queue, { now }) =>
      queue.describe(resource, now),
    );
  }

  downgrade(claim: Claim): ClaimStatus {
    const status = this.#about(claim, (queue, { now }) => queue.downgrade(claim, now));
    return this.#noted(claim, status);
  }

  handOver(claim: Claim, ids: HandOver): ClaimStatus {
    const both = { ids: [ids.from, ids.to] };
    const status = this.#on(claim.resource, both, (queue, { now }) =>
      queue.handOver(claim, ids, now),
    );
    return this.#noted(claim, status);
  }

  /** True if a heartbeat would find that the claim holds; extends nothing. */
  holds(claim: Claim): boolean {
    return this.#about(claim, (queue, { now }) => queue.keep(claim, now, { text: '', ms: 0 }));
  }

  evict(resource: string, number: bigint, eviction: Eviction): boolean {
    return this.#on(resource, ALL, (queue, { now }) => queue.evict(number, now, eviction));
  }

  /** The texts of resources with live claims, in order, from one on. */
  names(from: string, count: number): string[] {
    const rows = this.#sql.names.all(from, this.now, count);
    return (rows as { resource: string }[]).map((row) => row.resource);
  }

  readonly #isAlone = ({ id }: Claim): boolean => this.known.get(id) === true;

  /** A step for each claim that is not done yet. */
  #each<T>(
    claims: readonly Claim[],
    done: Map<string, T>,
    step: (claim: Claim, queue: ClaimQueue, moment: Moment) => T,
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
      this.#on(resource, { ids }, (queue, moment) => {
        for (const { claim, at } of those) answers[at] = step(claim, queue, moment);
      });
    }
    return answers;
  }

  #about<T>({ resource, id }: Claim, step: (queue: ClaimQueue, moment: Moment) => T): T {
    return this.#on(resource, { ids: [id] }, step);
  }

  /** Does a step, which may do nothing but change the queue, on as much of it as it looks at. */
  #on<T>(
    resource: string,
    wanted: Partial<Extent>,
    step: (queue: ClaimQueue, moment: Moment) => T,
  ): T {
    const extent = { name: toText(resource), now: this.now, ids: [], holders: false, ...wanted };
    for (let front = wanted.front ?? this.#parts.front; ; front = 8 * (front + 1)) {
      const part = new QueuePart(this.#sql, { ...extent, front });
      this.base = part.base;
      const now = this.now / 1000;
      const answer = step(part.queue, { now, number: BigInt(this.base + this.now) });
      if (!part.isEnough) continue;
      part.write(this.address);
      for (const entry of part.queue.takeTold()) {
        const address = part.addressOf(entry) ?? this.address;
        const said = lineOf(part.queue.statusOf(entry, now));
        this.wakes.push({ address, id: entry.id, at: this.now, said });
      }
      return answer;
    }
  }

  /** Notes whether the claim holds alone, or is gone with its file. */
  #noted({ id }: Claim, status: ClaimStatus): ClaimStatus {
    if (status.state !== 'gone') {
      this.known.set(id, status.state === 'held' && status.waiters === 0);
      return status;
    }
    this.known.delete(id);
    const lost = this.#parts.lost.delete(id) && status.why === 'expired';
    return lost ? { state: 'gone', why: 'store-reset' } : status;
  }
}

const ALL = { front: Number.MAX_SAFE_INTEGER };
