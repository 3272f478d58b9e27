/**
 * Waking the claims of this process: at once if one of its own verbs changed them, else when the
 * service says that the document has changed, or where it does not, by looking.
 */
import type { Clock } from '../../base/clock.ts';
import { followLasting } from '../../clients/listening.ts';
import type { Claim, ClaimStatus, Wake } from '../../contract/store.ts';
import { ClaimWakes } from '../claim-wakes.ts';
import { Polling } from '../polling.ts';
import { NONE } from '../subscription.ts';
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

/** A resource whose changes the service reports. */
interface FollowedDocument {
  readonly watching: Promise<AsyncDisposable>;
  looking: boolean;
  again: boolean;
}

export class WaitingClaims {
  readonly #parts: WaitingParts;
  readonly #wakes = new ClaimWakes();
  readonly #polling: Polling;
  readonly #followed = new Map<string, FollowedDocument>();
  /** The claims that want to be woken, by resource, with what each knows. */
  readonly #known = new Map<string, Map<string, string>>();

  constructor(parts: WaitingParts) {
    this.#parts = parts;
    this.#polling = new Polling({ clock: parts.clock, look: (ids) => this.#lookFor(ids) });
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const { resource, id } = claim;
    const woken = this.#wakes.subscribe(claim, wake);
    const known = this.#known.get(resource) ?? new Map<string, string>();
    this.#known.set(resource, known.set(id, ''));
    const notifies = this.#parts.documents.watch !== undefined;
    const polled = notifies ? undefined : this.#polling.watch(claim, () => {});
    if (notifies) await this.#follow(resource);
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
    const known = this.#known.get(claim.resource);
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
    this.#known.clear();
    const all = [...this.#followed.values()];
    this.#followed.clear();
    await Promise.all(all.map(({ watching }) => end(watching)));
  }

  /** Resolves when no change can be missed, or when the service cannot report any. */
  async #follow(resource: string): Promise<void> {
    let followed = this.#followed.get(resource);
    if (!followed) {
      const changed = (): void => void this.#changed(resource);
      const watching = followLasting(
        async () => (await this.#parts.documents.watch?.(resource, changed)) ?? NONE,
        changed,
      );
      followed = { watching, looking: false, again: false };
      this.#followed.set(resource, followed);
    }
    await followed.watching;
  }

  async #leave({ resource, id }: Claim): Promise<void> {
    const known = this.#known.get(resource);
    known?.delete(id);
    if (!known || known.size > 0) return;
    this.#known.delete(resource);
    const followed = this.#followed.get(resource);
    this.#followed.delete(resource);
    if (followed) await end(followed.watching);
  }

  /** One look at a time, and one more for all changes that came meanwhile. Never rejects. */
  async #changed(resource: string): Promise<void> {
    const followed = this.#followed.get(resource);
    if (!followed) return;
    followed.again = true;
    if (followed.looking) return;
    followed.looking = true;
    while (followed.again) {
      followed.again = false;
      await this.#look(resource).catch(() => {});
    }
    followed.looking = false;
  }

  /** Wakes the claims that have moved. */
  async #look(resource: string): Promise<QueueStandings> {
    const known = this.#known.get(resource);
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

  async #lookFor(ids: readonly string[]): Promise<ReadonlyMap<string, ClaimStatus>> {
    const due = [...this.#known].filter(([, known]) => ids.some((id) => known.has(id)));
    const looks = due.map(([resource]) => this.#look(resource));
    const found = new Map<string, ClaimStatus>();
    for (const standings of await Promise.all(looks)) {
      for (const [id, standing] of standings) if (standing) found.set(id, standing.status);
    }
    return found;
  }
}

async function end(watching: Promise<AsyncDisposable>): Promise<void> {
  try {
    await (await watching)[Symbol.asyncDispose]();
  } catch {
    // It never began, or has ended with its connection.
  }
}

/** What a claim is woken for, if it changes. */
function signOf(standing: QueueStanding | undefined): string {
  const { status, first, ending } = standing ?? {};
  if (status?.state === 'held') return `held ${status.waiters > 0}`;
  return status?.state === 'waiting' ? `waiting ${first && ending}` : 'gone';
}
