/**
 * Tombstones: the status for a late copy of a claim that has left.
 *
 * A request belongs to its session and a claim to its process, which looks for its node before it
 * makes another (`createProtected`). So this process remembers its own releases in memory for the
 * ttl. An eviction concerns another process: its tombstone is a node with the reason, until that
 * process has read it. Later evictions delete those of dead processes.
 */
import type { Clock } from '../../../base/clock.ts';
import { unlessMissing } from '../../../clients/zookeeper/errors.ts';
import type { MultiStep } from '../../../clients/zookeeper/zookeeper-session.ts';
import { EXPIRED } from '../../../contract/gone.ts';
import type { Claim, GoneStatus } from '../../../contract/store.ts';
import { OwnTombstones } from '../../own-tombstones.ts';
import type { KeptSession } from '../kept-session.ts';
import type { Tree } from '../layout.ts';
import { uuidOf } from '../places.ts';

/** A tombstone unread for this long belongs to a dead process. */
const FORGOTTEN_MS = 600_000;

export class Tombstones extends OwnTombstones {
  readonly #tree: Tree;

  constructor(tree: Tree, clock: Clock) {
    super(clock);
    this.#tree = tree;
  }

  /** Why a claim whose node is gone is over. */
  async epitaph(claim: Claim, { session, within }: KeptSession): Promise<GoneStatus> {
    const known = this.find(claim.id);
    if (known) return known;
    const path = this.#tree.tombstone(uuidOf(claim));
    const found = await session.getData(path, within).catch(unlessMissing);
    if (!found) return EXPIRED;
    const status: GoneStatus = { state: 'gone', why: 'evicted', detail: found.data.toString() };
    this.bury(claim.id, claim.ttlMs, status);
    // The only process that it concerns has read it.
    session.delete(path, within).catch(() => {});
    return status;
  }

  burial(uuid: string, reason: string): MultiStep {
    return { step: 'create', path: this.#tree.tombstone(uuid), data: Buffer.from(reason) };
  }

  /** After a burial, whose node shows the servers' time. Never rejects. */
  async sweep({ session, within }: KeptSession): Promise<void> {
    try {
      const { children } = await session.getChildren(this.#tree.lineage, within);
      const madeAt = new Map<string, number>();
      for (const uuid of children) {
        const path = this.#tree.tombstone(uuid);
        const stat = await session.exists(path, within);
        if (stat) madeAt.set(path, stat.ctimeMs);
      }
      const newest = Math.max(...madeAt.values());
      for (const [path, at] of madeAt) {
        if (at + FORGOTTEN_MS < newest) await session.delete(path, within);
      }
    } catch {
      // No caller waits for this.
    }
  }
}
