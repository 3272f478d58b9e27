/**
 * Records of finished work: each is a lasting node apart from the queues.
 *
 * Invariant: only a holder writes a record, in one `multi` that checks the claim's node.
 * Once a claim is admitted it stays so, its node goes when the hold ends, and a seal changes its
 * data and so its version. A copy that comes late is refused.
 * A record ends by the servers' clock: its data has its length, and the server reports when it was
 * written, by the clock of the leader of that moment. A write asks for the servers' time now, at
 * most once in ten seconds; in between, this process counts on its own clock, slightly low. So a
 * record lives a little longer, and never shorter, unless a leader's clock is ahead of the one
 * before.
 * TTL nodes are not used, because servers must be configured to allow them. Instead, one write in
 * four reads some records of its folder and deletes those that are over, so the dead are soon never
 * more than a part of the living. Two processes may do so at a time, and a late deletion must not
 * hit a new record of the same name, whose versions start anew: so it also writes the folder, at
 * the version from before the records were read. Folders are never deleted.
 * A holder reads over the session that admitted it, which has seen all earlier writes; any other
 * session has to catch up with the leader first.
 */
import { singleFlight } from '../../../base/single-flight.ts';
import { failedWith, unlessMissing } from '../../../clients/zookeeper/errors.ts';
import { permanentFailure, temporaryFailure } from '../../../contract/errors.ts';
import type { Claim, Kept, RecordTerms } from '../../../contract/store.ts';
import { MOST_TRIES } from '../../consensus/terms.ts';
import type { KeptSession } from '../kept-session.ts';
import { ensure } from '../layout.ts';
import type { ZookeeperClaim } from '../own-claim.ts';
import type { ZookeeperParts } from '../own-claims.ts';
import { uuidOf } from '../places.ts';
import { listQueue, readDetails } from '../reading.ts';

/** How often the servers' time is asked for. */
const TIME_MS = 10_000;
/** Tolerance for clock rates. */
const DRIFT = 0.01;
/** The part of writes that sweep; reads per sweep. */
const SWEEPS = 1 / 4;
const LOOKS = 16;

const NOTHING = Buffer.alloc(0);

interface NodeHold {
  readonly kept: KeptSession;
  readonly path: string;
  readonly version: number;
}

export class NodeRecords {
  readonly #parts: ZookeeperParts;
  #time = { servers: 0, at: Number.NEGATIVE_INFINITY };

  constructor(parts: ZookeeperParts) {
    this.#parts = parts;
  }

  async keep(claim: Claim, record: RecordTerms): Promise<boolean> {
    const own = this.#parts.own.find(claim);
    if (own && this.#isOver(own)) return false;
    if (own?.held && own.path !== undefined) {
      const { kept, path, version } = own;
      if (await this.#write(claim, { kept, path, version }, record)) return true;
    }
    // Its node may have changed since.
    const kept = own?.kept ?? (await this.#parts.sessions.any());
    const queue = this.#parts.tree.queue(claim.resource);
    const place = (await listQueue(kept, queue)).holder(uuidOf(claim));
    if (!place) return false;
    const path = `${queue}/${place.name}`;
    const details = await readDetails(kept, path);
    if (!details || details.sealed) return false;
    return this.#write(claim, { kept, path, version: details.version }, record);
  }

  async recall(resource: string): Promise<Kept | undefined> {
    const { own, sessions, tree } = this.#parts;
    const holder = [...own.queue(resource).claims.values()].find((each) => {
      return each.held && !this.#isOver(each);
    });
    const kept = holder?.kept ?? (await sessions.any());
    const { session, within } = kept;
    // Sent together, and served in this order.
    const caughtUp = holder ? undefined : session.sync(within);
    const [found] = await Promise.all([readRecord(kept, tree.record(resource)), caughtUp]);
    if (!found || found.ms <= 0) return undefined;
    const leftMs = Math.min(found.ms, found.until - (await this.#now(kept)));
    return leftMs > 0 ? { text: found.text, leftMs } : undefined;
  }

  #isOver({ left, sealed, kept, until }: ZookeeperClaim): boolean {
    return left || sealed !== undefined || kept.over || until <= this.#parts.clock.now();
  }

  /** False: the claim no longer holds. */
  async #write({ resource }: Claim, hold: NodeHold, record: RecordTerms): Promise<boolean> {
    const { kept, path, version } = hold;
    const check = { step: 'check', path, version } as const;
    const node = { path: this.#parts.tree.record(resource), data: dataOf(record) };
    let step: 'create' | 'set' = record.ms > 0 ? 'create' : 'set';
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        await kept.session.multi([check, { step, ...node }], kept.within);
        if (this.#parts.clock.random() < SWEEPS) void this.#sweep(kept, resource);
        return true;
      } catch (error) {
        const missing = failedWith(error, 'NONODE');
        const refused = missing || failedWith(error, 'BADVERSION');
        if (refused && error.step === 0) return false;
        if (missing && record.ms <= 0) return true;
        if (missing && step === 'create') {
          await ensure(kept.session, this.#parts.tree.records, kept.within);
          await ensure(kept.session, this.#parts.tree.recordsBeside(resource), kept.within);
        } else if (missing) step = 'create';
        else if (failedWith(error, 'NODEEXISTS')) step = 'set';
        else throw error;
      }
    }
    throw temporaryFailure('Other clients kept creating and deleting the record.');
  }

  /** Never rejects: the next sweep deletes the rest. */
  async #sweep(kept: KeptSession, resource: string): Promise<void> {
    const { tree, clock } = this.#parts;
    const folder = tree.recordsBeside(resource);
    try {
      const { children, stat } = await kept.session.getChildren(folder, kept.within);
      const first = Math.floor(clock.random() * children.length);
      const some = [...children.slice(first), ...children.slice(0, first)].slice(0, LOOKS);
      const read = some.map((name) => readRecord(kept, `${folder}/${name}`));
      const found = (await Promise.all(read)).filter((each) => each !== undefined);
      const now = await this.#now(kept);
      const over = found.filter(({ until }) => until <= now);
      if (over.length === 0) return;
      const marked = { step: 'set', path: folder, data: NOTHING, version: stat.version } as const;
      const deletions = over.map(({ path, version }) => {
        return { step: 'delete', path, version } as const;
      });
      await kept.session.multi([marked, ...deletions], kept.within);
    } catch {
      // No caller waits for this.
    }
  }

  /** A lower bound of the servers' time. */
  async #now(kept: KeptSession): Promise<number> {
    const { clock } = this.#parts;
    if (clock.now() - this.#time.at >= TIME_MS) await this.#askTime(kept);
    const { servers, at } = this.#time;
    return servers + (clock.now() - at) * (1 - DRIFT);
  }

  readonly #askTime = singleFlight(async ({ session, within }: KeptSession) => {
    const stat = await session.setData(this.#parts.tree.records, NOTHING, within);
    this.#time = { servers: stat.mtimeMs, at: this.#parts.clock.now() };
  });
}

/** Begins with its layout. */
function dataOf({ text, ms }: RecordTerms): Buffer {
  return Buffer.from(`1 ${Math.max(0, Math.ceil(ms))} ${text}`);
}

/** Undefined if there is none; `until` is by the servers' clock. */
async function readRecord(kept: KeptSession, path: string) {
  const found = await kept.session.getData(path, kept.within).catch(unlessMissing);
  if (!found) return undefined;
  const { data, stat } = found;
  const [, length, text] = /^1 (\d+) (.*)$/s.exec(data.toString()) ?? [];
  if (length === undefined || text === undefined) {
    const message = `The record at ${JSON.stringify(path)} has a layout that is not known here.`;
    throw permanentFailure(message);
  }
  const ms = Number(length);
  return { path, version: stat.version, text, ms, until: stat.mtimeMs + ms };
}
