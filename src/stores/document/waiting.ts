/**
 * Waking the claims of this process: at once if one of its own verbs changed them, else when the
 * service says that the document has changed, or where it does not, by looking.
 */
import type { Clock } from '../../base/clock.ts';
import { followLasting } from '../../clients/listening.ts';
import type { Claim, ClaimStatus, Wake } from '../../contract/store.ts';
import { Polling } from '../polling.ts';
import { ClaimWakes, NONE } from '../subscription.ts';
import type { Documents } from './documents.ts';

/** The status of a claim, whether it knows that it is the first waiter, and what it waits for. */
export interface QueueStanding {
  readonly status: ClaimStatus;
  readonly first: boolean;
  /** How many of the holds before it end without another heartbeat. */
  readonly ending: number;
}

/** Undefined for a claim that is not there: its next heartbeat says why. */
type QueueStandings = ReadonlyMap<string, QueueStanding | undefined>;

export interface WaitingParts {
  readonly documents: Documents;
  readonly clock: Clock;
  /** Reads the document of the resource for these claims. */
  readonly look: (resource: string, ids: ReadonlySet<string>) => Promise<QueueStandings>;
}

/** A resource with claims that want to be woken. */
interface WaitedDocument {
  readonly known: Map<string, string>;
  /** Resolves when no change can be missed, or when the service cannot report any. */
  readonly watching: Promise<AsyncDisposable>;
  looking: boolean;
  again: boolean;
}

export class WaitingClaims {
  readonly #parts: WaitingParts;
  readonly #wakes = new ClaimWakes();
  readonly #polling: Polling;
  readonly #waited = new Map<string, WaitedDocument>();

  constructor(parts: WaitingParts) {
    this.#parts = parts;
    this.#polling = new Polling({ clock: parts.clock, look: (_, due) => this.#lookAt(due) });
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const { resource, id } = claim;
    const woken = this.#wakes.subscribe(claim, wake);
    const { known, watching } = this.#of(resource);
    known.set(id, '');
    const notifies = this.#parts.documents.watch !== undefined;
    const polled = notifies ? undefined : this.#polling.watch(claim, () => {});
    await watching;
    return {
      [Symbol.asyncDispose]: async () => {
        await woken[Symbol.asyncDispose]();
        await polled?.[Symbol.asyncDispose]();
        if (!this.#wakes.has(claim)) await this.#leave(claim);
      },
    };
  }

  /** Takes what a verb has returned to a claim. */
  saw(claim: Claim, standing: QueueStanding): void {
    this.#polling.saw(claim, standing.status);
    const known = this.#waited.get(claim.resource)?.known;
    if (known?.has(claim.id)) known.set(claim.id, signOf(standing));
  }

  /** Wakes a claim that a verb of this process has changed. */
  wake(resource: string, id: string, standing: QueueStanding): void {
    const claim = { id, resource } as Claim;
    this.saw(claim, standing);
    this.#wakes.wake(claim, standing.status);
  }

  async close(): Promise<void> {
    this.#polling.close();
    const all = [...this.#waited.values()];
    this.#waited.clear();
    await Promise.all(all.map(end));
  }

  #of(resource: string): WaitedDocument {
    const { documents } = this.#parts;
    const changed = (): void => void this.#changed(resource);
    const follow = async () => (await documents.watch?.(resource, changed)) ?? NONE;
    const waited: WaitedDocument = this.#waited.get(resource) ?? {
      known: new Map(),
      watching: followLasting(follow, changed),
      looking: false,
      again: false,
    };
    this.#waited.set(resource, waited);
    return waited;
  }

  async #leave({ resource, id }: Claim): Promise<void> {
    const waited = this.#waited.get(resource);
    waited?.known.delete(id);
    if (!waited || waited.known.size > 0) return;
    this.#waited.delete(resource);
    await end(waited);
  }

  /** One look at a time, and one more for all changes that came meanwhile. Never rejects. */
  async #changed(resource: string): Promise<void> {
    const waited = this.#waited.get(resource);
    if (!waited) return;
    waited.again = true;
    if (waited.looking) return;
    waited.looking = true;
    while (waited.again) {
      waited.again = false;
      await this.#look(resource).catch(() => {});
    }
    waited.looking = false;
  }

  async #look(resource: string): Promise<QueueStandings> {
    const known = this.#waited.get(resource)?.known;
    if (!known) return new Map();
    const before = new Map(known);
    const standings = await this.#parts.look(resource, new Set(before.keys()));
    for (const [id, old] of before) {
      const standing = standings.get(id);
      const sign = signOf(standing);
      // A verb may have returned something newer meanwhile.
      if (known.get(id) !== old || sign === old) continue;
      known.set(id, sign);
      if (standing) this.#wakes.wake({ id }, standing.status);
    }
    return standings;
  }

  async #lookAt(due: ReadonlySet<string>): Promise<ReadonlyMap<string, ClaimStatus>> {
    const looks = [...due].map((resource) => this.#look(resource));
    const found = new Map<string, ClaimStatus>();
    for (const standings of await Promise.all(looks)) {
      for (const [id, standing] of standings) if (standing) found.set(id, standing.status);
    }
    return found;
  }
}

async function end({ watching }: WaitedDocument): Promise<void> {
  // One that never began, or has ended with its connection, is ended.
  await watching.then((one) => one[Symbol.asyncDispose]()).catch(() => {});
}

/** What a claim is woken for, if it changes. */
function signOf(standing: QueueStanding | undefined): string {
  const { status, first, ending } = standing ?? {};
  if (status?.state === 'held') return `held ${status.waiters > 0}`;
  return status?.state === 'waiting' ? `waiting ${first && ending}` : 'gone';
}
