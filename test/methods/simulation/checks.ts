/**
 * What is checked of every world.
 *
 * In the model (clocks within the drift that was allowed for, quarantine after a loss of data, no
 * eviction `now`): the belief of a holder is contained in the grant of the server. When the grant
 * ends, or somebody else is granted what excludes it, whoever runs has been told already, and who
 * stands still finds its lease dead on its clock before it does anything else. `minHold` is kept.
 * Always: a token is used once; a lease that was acquired ends once, released or lost; nobody
 * releases what it believes to hold, or another's claim; the signal says what the lease says;
 * and nothing is acquired once `close` was called. A claim leaves at the latest a tenth of its TTL
 * after it may, whatever is unanswered before it; and while only one part of the store is away,
 * nobody is ever in doubt of a lease on another.
 * Out of the model beliefs may overlap, and in some worlds they must, or this would prove nothing.
 */
import type { Kind, Lease } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import type { Verb } from 'holdfast/testkit';
import { conflict, type Grant, type Grants, isExclusive } from './grants.ts';
import { LATEST_MS, type Process } from './process.ts';
import type { Course } from './trace.ts';

/** A lease, as its process has announced it. */
interface Hold {
  readonly process: Process;
  readonly resource: string;
  readonly token: bigint;
  readonly grant: Grant;
  lease?: Lease;
  /** In the world's time; known once the lease is in somebody's hands. */
  deadline?: number;
}

/** What a lease and the events about it say. */
type Named = Pick<Lease, 'resource' | 'token'>;

export interface CheckOptions extends Course {
  readonly grants: Grants;
  readonly inModel: boolean;
  /** The only part of the store that may fail; undefined: anything may. */
  readonly away: string | undefined;
}

export class Checks {
  readonly #options: CheckOptions;
  readonly #holds = new Set<Hold>();
  readonly #tokens = new Set<string>();
  readonly #highest = new Map<string, bigint>();
  readonly #hints = new Map<Process, { readonly number: bigint; readonly at: number }>();
  readonly #reserved: { readonly grant: Grant; readonly until: number }[] = [];
  readonly #quarantined = new Set<string>();
  /** Since when claims may leave that have not left; undefined: they have. */
  readonly #ready = new Map<string, number | undefined>();

  constructor(options: CheckOptions) {
    this.#options = options;
    options.grants.listener = {
      granted: (grant) => this.#granted(grant),
      resumed: (grant) => this.#clash(grant),
      expired: (grant) => this.#expired(grant),
    };
  }

  /** Listens to all that its locks tell. */
  follow(process: Process): void {
    const { trace } = this.#options;
    const { locks } = process;
    locks.on('acquired', (event) => {
      if (event.takeover) trace.count(`takeover: ${event.takeover.reason}`);
      if (event.handOff === 'local') trace.count('local hand-off');
      if (event.takeover?.token === event.token - 1n && !event.handOff) trace.count('resumed');
      this.#acquired(process, event);
    });
    locks.on('released', (event) => {
      if (event.handedOver) this.#promisesNoMore(process, event);
      this.#ended(process, event, event.handedOver ? 'handed over' : 'released');
    });
    locks.on('lost', (event) => {
      trace.count(`lost: ${event.reason}`);
      if (!this.#plausible(process, event)) {
        trace.fail(`${process.name} lost ${event.resource} for no such reason: ${event.reason}`);
      }
      this.#ended(process, event, `lost, ${event.reason}`);
    });
    locks.on('unconfirmed', ({ resource }) => {
      trace.count('unconfirmed');
      const { away } = this.#options;
      if (away !== undefined && resource !== away) {
        trace.fail(`${process.name} is in doubt of ${resource}, and only ${away} was away`);
      }
      trace.add(process.name, `is in doubt of ${resource}`);
    });
    locks.on('quarantine', ({ resource }) => {
      this.#quarantined.add(`${process.name} ${resource}`);
      trace.add(process.name, `finds ${resource} in quarantine`);
    });
    locks.on('mismatch', ({ resource, detail }) => {
      trace.count('mismatch');
      trace.add(process.name, `disagrees about ${resource}: ${detail}`);
    });
    locks.on('slow', () => trace.count('slow'));
  }

  /** The lease is in somebody's hands. It was promised that nobody else comes for `minHoldMs`. */
  handed(process: Process, lease: Lease, minHoldMs = 0): void {
    const hold = this.#find(process, lease);
    if (!hold) {
      if (lease.held) this.#options.trace.fail(`a lease on ${lease.resource} came unannounced`);
      return;
    }
    const { grant } = hold;
    // Whoever hears late of its grant, and then of nothing more, has what was granted then.
    const until = this.#options.schedule.now + (minHoldMs / process.rate) * 0.88;
    if (minHoldMs > 0) this.#reserved.push({ grant, until: Math.min(until, grant.expiresAt) });
    hold.lease = lease;
    void lease.signal;
    this.#measure(hold);
  }

  /** Whoever resumes the hold has a `minHold` of its own. */
  #promisesNoMore(process: Process, lease: Named): void {
    const grant = this.#find(process, lease)?.grant;
    const at = this.#reserved.findIndex((each) => each.grant === grant);
    if (at >= 0) this.#reserved.splice(at, 1);
  }

  /** Somebody who holds the lease looks at it. */
  look(process: Process, lease: Lease): void {
    const { trace, inModel } = this.#options;
    const { signal, held } = lease;
    // The next reading of the clock may come after a pause.
    const { at } = process;
    if (held && signal.aborted) {
      trace.fail(`the signal of ${lease.resource} aborted under a held lease`);
    }
    const { state } = lease;
    if (state === 'lost') {
      // A read calls nobody, so the signal may be one microtask behind.
      queueMicrotask(() => {
        if (signal.aborted) return;
        trace.fail(`${lease.resource} was lost, and its signal did not say so`);
      });
    }
    if (!held || state === 'lost' || !inModel) return;
    const hold = this.#find(process, lease);
    if (!hold) return trace.fail(`${lease.resource} is held, but was said to have ended`);
    if (hold.grant.excused || hold.grant.expiresAt > at) return;
    trace.fail(`${process.name} believes to hold ${lease.resource}, which ended on the server`);
  }

  /** Notes until when the process would believe in its leases if it stood still from now on. */
  measure(process: Process): void {
    const { schedule } = this.#options;
    for (const hold of this.#holds) {
      if (hold.process !== process) continue;
      if (hold.deadline !== undefined && hold.deadline > schedule.now) this.#measure(hold);
    }
  }

  /** Its hints can come, so that the claim may leave. */
  watched({ id }: Claim): void {
    if (!this.#ready.has(id)) this.#ready.set(id, this.#options.schedule.now);
  }

  /** A request is about to leave. */
  sends(process: Process, verb: Verb, claims: readonly Claim[]): void {
    if (verb === 'claim') for (const claim of claims) this.#left(process, claim);
    if (verb !== 'release' && verb !== 'handOver') return;
    const { grants, trace } = this.#options;
    for (const claim of claims) {
      const grant = grants.of(claim);
      if (!grant) continue;
      if (this.#holdsOf(grant).length > 0) {
        trace.fail(`${process.name} gives ${claim.resource} up under a lease that it holds`);
      }
      const late = grant.expiresAt - process.at < claim.ttlMs / 10 + 20;
      if (grant.held && !grant.used && !grant.released && late) trace.count('late grant refused');
    }
  }

  hinted(process: Process, hint: ClaimStatus | undefined): void {
    if (hint?.state !== 'held') return;
    this.#hints.set(process, { number: hint.token, at: this.#options.schedule.now });
  }

  /** It has crashed and believes nothing any more. */
  buried(process: Process): void {
    for (const hold of this.#holds) if (hold.process === process) this.#holds.delete(hold);
  }

  /** All is over. */
  finish(): void {
    for (const { process, resource, token } of this.#holds) {
      this.#options.trace.fail(`${token} of ${resource} in ${process.name} never ended`);
    }
  }

  #left(process: Process, { id, ttlMs, resource }: Claim): void {
    const since = this.#ready.get(id);
    this.#ready.set(id, undefined);
    if (since === undefined || process.stoodStill) return;
    const waitedMs = this.#options.schedule.now - since;
    if (waitedMs <= ttlMs / 10 / process.rate + LATEST_MS) return;
    const { trace } = this.#options;
    trace.fail(`${process.name} claimed ${resource} after ${waitedMs} of ${ttlMs} ms`);
  }

  #acquired(process: Process, { resource, kind, token }: Named & { kind: Kind }): void {
    const { trace, grants, inModel } = this.#options;
    const grant = grants.find(process, resource, token / 1024n);
    trace.add(process.name, `acquires ${resource} as ${kind} ${token}`);
    trace.count('acquired');
    if (!grant) return trace.fail(`${token} of ${resource} was never granted to ${process.name}`);
    this.#countAcquired(process, grant);
    const { epoch } = grant;
    const unique = `${resource} ${epoch} ${token}`;
    if (this.#tokens.has(unique)) trace.fail(`${token} of ${resource} was used twice`);
    this.#tokens.add(unique);
    if (process.closing) trace.fail(`${process.name} acquired ${resource} after it was closed`);
    if (grant.released) trace.fail(`${process.name} acquired ${resource} after its release`);
    const order = `${resource} ${epoch}`;
    if (isExclusive(kind)) {
      const highest = this.#highest.get(order) ?? 0n;
      if (inModel && !grant.excused && token < highest) {
        trace.fail(`${token} of ${resource} was acquired after ${highest}`);
      }
      if (token > highest) this.#highest.set(order, token);
    }
    this.#holds.add({ process, resource, token, grant });
    this.#clash(grant);
  }

  #countAcquired(process: Process, grant: Grant): void {
    const { trace, schedule } = this.#options;
    if (grant.reclaimed) trace.count('granted after an unknown outcome');
    const hint = this.#hints.get(process);
    if (!grant.used && hint?.number === grant.number && hint?.at === schedule.now) {
      trace.count('hand-off by hint');
    }
    grant.used = true;
    if (this.#quarantined.delete(`${process.name} ${grant.claim.resource}`)) {
      trace.count('quarantine waited out');
    }
  }

  #ended(process: Process, event: Named, how: string): void {
    const { trace } = this.#options;
    const { resource, token } = event;
    trace.add(process.name, `${how}: ${resource} ${token}`);
    const hold = this.#find(process, event);
    if (!hold) return trace.fail(`${token} of ${resource} in ${process.name} ended once too often`);
    this.#holds.delete(hold);
  }

  #granted(grant: Grant): void {
    this.#clash(grant);
    const { schedule, trace, grants, inModel } = this.#options;
    const { resource } = grant.claim;
    if (!inModel || grants.evictions.has(resource)) return;
    const stay = this.#reserved.flatMap(({ grant: other, until }) => {
      const same = other.claim.resource === resource && other.epoch === grant.epoch;
      return same && other !== grant && until > schedule.now ? [other] : [];
    });
    // All together: of a semaphore, no more than its limit begin in any `minHold`.
    const clash = conflict([...new Set(stay), grant]);
    if (clash) trace.fail(`before minHold was over, the server has granted ${clash}`);
  }

  /** Nobody may believe to hold what excludes it. */
  #clash(grant: Grant): void {
    const { trace, inModel } = this.#options;
    const believed = new Set([grant]);
    for (const hold of this.#holds) {
      if (hold.resource === grant.claim.resource && this.#believed(hold)) believed.add(hold.grant);
    }
    const clash = conflict([...believed].filter(({ excused }) => !excused));
    if (!clash) return;
    if (inModel) trace.fail(`at once, ${clash} believed in ${grant.claim.resource}`);
    else trace.count('out of the model: two holders');
  }

  #expired(grant: Grant): void {
    const { trace, inModel } = this.#options;
    if (grant.excused) return;
    for (const hold of this.#holdsOf(grant)) {
      if (!this.#believed(hold)) continue;
      if (inModel) trace.fail(`${hold.process.name} believes in ${hold.resource} past its end`);
      else trace.count('out of the model: belief past its end');
    }
  }

  /** Whoever is awake believes until it has been told; others as long as their clock says so. */
  #believed(hold: Hold): boolean {
    if (hold.process.prompt) return true;
    return hold.deadline !== undefined && hold.deadline > this.#options.schedule.now;
  }

  #holdsOf(grant: Grant): Hold[] {
    return [...this.#holds].filter((hold) => hold.grant === grant);
  }

  /** Whether something has happened that this may be the consequence of. */
  #plausible(
    process: Process,
    { resource, reason }: { resource: string; reason: string },
  ): boolean {
    const { grants, inModel } = this.#options;
    // A late copy of a claim whose life a jump of the clock has cut short stands as a new one.
    if (reason === 'store-reset') return grants.reset || !inModel;
    if (reason === 'evicted') return grants.evictions.has(resource);
    if (reason === 'replaced') return grants.replacements.has(resource);
    if (reason === 'closed') return process.closing;
    if (reason === 'stalled') return process.stoodStill;
    return reason === 'expired' || reason === 'max-hold';
  }

  #find(process: Process, { resource, token }: Named): Hold | undefined {
    return [...this.#holds].find((hold) => {
      return hold.token === token && hold.resource === resource && hold.process === process;
    });
  }

  #measure(hold: Hold): void {
    const { lease, process } = hold;
    if (!lease) return;
    const left = process.peek(() => lease.remainingMs);
    hold.deadline = this.#options.schedule.now + left / process.rate;
  }
}
