/**
 * What the server has granted, as its own answers tell: who holds what, and until when.
 *
 * The server's word is checked here. Always: numbers of exclusive claims grow; what is granted at
 * the same time fits under the limit; a hold that is handed over is somebody's at each moment, and
 * keeps its number; and a claim disappears only through its own release, its expiry, an eviction or
 * a loss of all data. The rest, what processes believe, is in checks.ts.
 */
import type { Kind } from 'holdfast';
import type { Claim, ClaimStatus, HandOver } from 'holdfast/store';
import type { Process } from './process.ts';
import type { Schedule } from './schedule.ts';
import type { Trace } from './trace.ts';

export interface Grant {
  readonly process: Process;
  readonly epoch: number;
  claim: Claim;
  number: bigint | undefined;
  /** When it ends on the server without another heartbeat, in the world's time. */
  expiresAt: number;
  held: boolean;
  /** When it was released first, in the order of requests; 0 if it was not. */
  released: number;
  releasedAt: number;
  /** Takes no more heartbeats: evicted, on its way, or released with a delay. */
  sealed: boolean;
  /** Ended at once, by force: whoever holds it may believe in it for a while. */
  excused: boolean;
  /** A lease was made of it. */
  used: boolean;
  /** A request for it went unanswered, and it was asked for again. */
  reclaimed: boolean;
  /** A check at its end is arranged. */
  watched: boolean;
}

export interface GrantListener {
  granted(grant: Grant): void;
  /** It was granted to another before, who has handed it over. */
  resumed(grant: Grant): void;
  /** Its time on the server is over. */
  expired(grant: Grant): void;
}

/** What adding up durations may be off by: the end of a life is known as `now + leftMs` only. */
const ROUNDING_MS = 1e-6;

export class Grants {
  listener: GrantListener | undefined;
  /** Resources of which somebody was asked to be evicted. */
  readonly evictions: Set<string> = new Set();
  /** Resources of which a holder was replaced by a newer claim. */
  readonly replacements: Set<string> = new Set();
  readonly #schedule: Schedule;
  readonly #trace: Trace;
  readonly #byId = new Map<string, Grant>();
  readonly #byNumber = new Map<string, Grant>();
  /** Evictions of claims whose number the server has told nobody, by resource. */
  readonly #unseen = new Map<string, number>();
  readonly #highest = new Map<string, bigint>();
  #epoch = -1;
  #requests = 0;

  constructor(schedule: Schedule, trace: Trace) {
    this.#schedule = schedule;
    this.#trace = trace;
  }

  /** The server has no memory of anything before. */
  begin(): void {
    this.#epoch++;
    this.#highest.clear();
  }

  /** The server's clock has jumped, and every claim is older. */
  age(ms: number): void {
    for (const grant of this.#byId.values()) {
      grant.expiresAt -= ms;
      grant.releasedAt -= ms;
    }
  }

  /** The server has lost its memory at least once. */
  get reset(): boolean {
    return this.#epoch > 0;
  }

  /** The last grant of this number to this process: a store that forgot counts anew. */
  find(process: Process, resource: string, number: bigint): Grant | undefined {
    for (let epoch = this.#epoch; epoch >= 0; epoch--) {
      const grant = this.#byNumber.get(`${epoch}/${number}`);
      if (grant?.process === process && grant.claim.resource === resource) return grant;
    }
    return undefined;
  }

  of(claim: Claim): Grant | undefined {
    return this.#byId.get(claim.id);
  }

  /** A request to claim has reached the server. */
  claimed(claims: readonly Claim[]): void {
    for (const claim of claims) {
      if (this.#byId.get(claim.id)?.released) this.#trace.count('late copy of a released claim');
    }
  }

  /** The next place in the order in which requests are carried out. */
  ask(): number {
    return ++this.#requests;
  }

  /** The server has said where a claim stands. */
  told(process: Process, claim: Claim, status: ClaimStatus, asked: number): void {
    const grant = this.#byId.get(claim.id);
    // It was said before the release, and is heard of after it.
    if (grant && asked < grant.released) return;
    this.#trace.add(process.name, `is told of ${claim.resource}: ${describe(status)}`);
    if (status.state === 'held' || status.state === 'waiting') {
      const known = grant && this.#lives(grant) ? grant : this.#enter(process, claim);
      known.expiresAt = this.#schedule.now + status.leftMs;
      if (claim.unanswered) known.reclaimed = true;
      if (status.state === 'held' && !known.held) this.#grant(known, status.token);
    } else if (status.state === 'gone') {
      if (grant?.released && status.why === 'unknown') this.#trace.count('tombstone answered');
      if (grant) this.#gone(grant, status.why);
    }
  }

  downgraded(claim: Claim): void {
    const grant = this.#byId.get(claim.id);
    if (grant?.held && this.#lives(grant))
      grant.claim = { ...grant.claim, kind: 'read', permits: 1 };
  }

  released(process: Process, claim: Claim, afterMs: number): void {
    const grant = this.#byId.get(claim.id);
    this.#trace.add(process.name, `has released ${claim.resource}`);
    if (!grant) return;
    if (grant.process !== process) {
      this.#trace.fail(`${process.name} released what ${grant.process.name} claimed`);
    }
    if (grant.released) {
      grant.releasedAt = this.#schedule.now;
      return;
    }
    grant.released = this.ask();
    grant.releasedAt = this.#schedule.now;
    if (!this.#lives(grant)) return;
    if (afterMs <= 0 || !grant.held) grant.expiresAt = this.#schedule.now;
    else if (!grant.sealed) grant.expiresAt = this.#schedule.now + afterMs;
    grant.sealed = true;
  }

  evicted(resource: string, number: bigint, now: boolean): void {
    const grant = this.#byNumber.get(`${this.#epoch}/${number}`);
    this.evictions.add(resource);
    this.#trace.add('server', `evicts ${number} from ${resource}${now ? ' at once' : ''}`);
    if (!grant || grant.claim.resource !== resource) {
      this.#unseen.set(resource, (this.#unseen.get(resource) ?? 0) + 1);
      return;
    }
    grant.sealed = true;
    if (now) grant.excused = true;
  }

  /** A newer claim ends the one with this number; one that holds is ended as a holder, or stays. */
  replaced(resource: string, number: bigint, waiting: boolean): void {
    const grant = this.#byNumber.get(`${this.#epoch}/${number}`);
    this.#trace.count('replaced');
    if (grant?.claim.resource !== resource) {
      this.#unseen.set(resource, (this.#unseen.get(resource) ?? 0) + 1);
    } else if (!waiting) {
      grant.sealed = true;
      this.replacements.add(resource);
    }
  }

  /** The server has passed a hold on, or has said why it does not. */
  passed(process: Process, claim: Claim, ids: HandOver, status: ClaimStatus): void {
    const from = this.#byId.get(ids.from);
    const to = this.#byId.get(ids.to);
    this.#trace.add(process.name, `hands over ${claim.resource}: ${describe(status)}`);
    const gives = status.state === 'gone' && status.why === 'handed-over';
    if (status.state === 'held' && to) to.expiresAt = this.#schedule.now + status.leftMs;
    else if (status.state === 'held' || (gives && !to)) {
      const next = this.#enter(process, { ...claim, id: ids.to });
      if (status.state !== 'held') next.sealed = true;
      this.#pass(from, next, status.state === 'held' ? status : { leftMs: claim.ttlMs });
    } else if (claim.id === ids.from && from && status.state === 'gone') {
      this.#gone(from, status.why);
    } else if (status.state === 'gone' && status.why === 'expired' && from && this.#lives(from)) {
      this.#trace.fail(`what is on its way of ${claim.resource} was not there`);
    }
  }

  /** `to` takes the place of `from`, and has no heartbeats while it is sealed, on its way. */
  #pass(
    from: Grant | undefined,
    to: Grant,
    { token = from?.number, leftMs }: { readonly token?: bigint; readonly leftMs: number },
  ): void {
    const { resource } = to.claim;
    const had = from?.held && !from.released && this.#lives(from);
    if (!had) return this.#trace.fail(`${resource} was passed on, and nobody had it`);
    if (from.number !== token) this.#trace.fail(`${from.number} of ${resource} is ${token} now`);
    from.released = this.ask();
    from.releasedAt = this.#schedule.now;
    from.expiresAt = this.#schedule.now;
    Object.assign(to, { held: true, number: token, expiresAt: this.#schedule.now + leftMs });
    this.#byNumber.set(`${to.epoch}/${token}`, to);
    this.#watch(to);
    if (!to.sealed) this.listener?.resumed(to);
  }

  #enter(process: Process, claim: Claim): Grant {
    const before = this.#byId.get(claim.id);
    const remembered = before && before.releasedAt + claim.ttlMs > this.#schedule.now;
    if (before?.released && before.epoch === this.#epoch && remembered) {
      this.#trace.fail(`a claim on ${claim.resource} came back after its release`);
    }
    const grant: Grant = {
      ...{ process, claim, epoch: this.#epoch, number: undefined, expiresAt: 0, held: false },
      ...{ released: 0, releasedAt: 0, sealed: false, excused: false, used: false },
      ...{ reclaimed: false, watched: false },
    };
    this.#byId.set(claim.id, grant);
    return grant;
  }

  #grant(grant: Grant, number: bigint): void {
    const { resource, kind } = grant.claim;
    grant.held = true;
    grant.number = number;
    this.#byNumber.set(`${grant.epoch}/${number}`, grant);
    const highest = this.#highest.get(resource) ?? 0n;
    if (isExclusive(kind)) {
      if (number <= highest) this.#trace.fail(`${number} of ${resource} came after ${highest}`);
      this.#highest.set(resource, number);
    }
    const others = [...this.#byId.values()].filter(
      (other) => other.claim.resource === resource && other.held && this.#lives(other),
    );
    const misfit = conflict(others.filter(({ excused }) => !excused));
    if (misfit) this.#trace.fail(`the server has granted ${misfit}`);
    this.#watch(grant);
    this.listener?.granted(grant);
  }

  /** Looks again when its time is over. */
  #watch(grant: Grant): void {
    if (grant.watched) return;
    grant.watched = true;
    const look = (): void => {
      grant.watched = false;
      if (grant.expiresAt > this.#schedule.now) this.#watch(grant);
      else if (!grant.released) this.listener?.expired(grant);
    };
    this.#schedule.at(grant.expiresAt, look, true);
  }

  #gone(grant: Grant, why: string): void {
    const { resource, kind } = grant.claim;
    const unseen = this.#unseen.get(resource) ?? 0;
    if (grant.sealed || !this.#lives(grant)) return;
    if (why === 'evicted' && unseen > 0) {
      this.#unseen.set(resource, unseen - 1);
      grant.sealed = true;
    } else this.#trace.fail(`a ${kind} claim on ${resource} disappeared: ${why}`);
  }

  #lives(grant: Grant): boolean {
    return grant.epoch === this.#epoch && grant.expiresAt > this.#schedule.now + ROUNDING_MS;
  }
}

export function isExclusive(kind: Kind): boolean {
  return kind === 'mutex' || kind === 'write';
}

/**
 * What does not fit together. Whoever was admitted last was admitted beside all others that still
 * hold, under a limit that was at most the smallest of theirs.
 */
export function conflict(grants: readonly Grant[]): string | undefined {
  if (grants.length < 2) return undefined;
  const used = grants.reduce((sum, { claim }) => sum + claim.permits, 0);
  const limit = Math.min(...grants.map(({ claim }) => claim.limit));
  const shared = grants.every(({ claim }) => isRw(claim.kind) === isRw(grants[0]!.claim.kind));
  if (used <= limit && shared) return undefined;
  return grants
    .map(({ process, claim, number }) => `${claim.kind} ${number} to ${process.name}`)
    .join(' and ');
}

function isRw(kind: Kind): boolean {
  return kind === 'read' || kind === 'write';
}

function describe(status: ClaimStatus): string {
  if (status.state === 'held') return `held, ${status.token}`;
  if (status.state === 'gone') return `gone, ${status.why}`;
  return status.state;
}
