/**
 * The store's server in the simulated world: the real memory store, and a note of everything that
 * it grants. It may be down for a while, restart without its memory, or have a clock that jumps.
 * Each resource may be a part of its own, and one part be away while the others answer.
 */
import { type Store, StoreError } from 'holdfast';
import { type MemoryStore, memoryStore } from 'holdfast/memory';
import { type Claim, type ClaimStatus, MAX_BATCH } from 'holdfast/store';
import { REPLACED } from '../../../src/core/errors.ts';
import type { Grants } from './grants.ts';
import type { Process } from './process.ts';
import type { Course } from './trace.ts';

export interface ServerOptions {
  readonly quarantineMs: number;
  readonly maxWaiters: number;
  /** Each resource is a part. */
  readonly parted: boolean;
}

/** A part that hangs, or else fails. */
type Away = { readonly resource: string; readonly hangs: boolean };

export type ServerParts = Course & { readonly grants: Grants };

/** More tokens than a memory gives out in a whole world. */
const SKIPPED = 400;

/** A hint may be about a claim that has been released since it was thought of. */
const BEFORE_ALL = 0;

export class Server {
  readonly memory: MemoryStore;
  readonly #parts: ServerParts;
  readonly #options: ServerOptions;
  #down = false;
  #away: Away | undefined;
  #aheadMs = 0;
  #skipped = 0;
  /** Subscriptions die with the server that took them. */
  #life = 0;

  constructor(parts: ServerParts, options: ServerOptions) {
    this.#parts = parts;
    this.#options = options;
    const { quarantineMs, maxWaiters } = options;
    const clock = { ...parts.schedule.clock(() => 0), now: () => this.now };
    this.memory = memoryStore({ clock, quarantine: quarantineMs, maxWaiters });
    parts.grants.begin();
  }

  /** The server's own clock. */
  get now(): number {
    return this.#parts.schedule.now + this.#aheadMs;
  }

  stop(): void {
    this.#down = true;
    this.#life++;
    this.#parts.trace.count('fault: restart');
    this.#parts.trace.add('server', 'goes down');
  }

  start(): void {
    this.#down = false;
    this.#away = undefined;
    this.#parts.trace.add('server', 'is up');
  }

  losePart(away: Away): void {
    this.#away = away;
    this.#parts.trace.count('fault: part away');
    this.#parts.trace.add('server', `${away.hangs ? 'hangs' : 'fails'} for ${away.resource}`);
  }

  forget(): void {
    this.#parts.trace.count('fault: data loss');
    this.#parts.trace.add('server', 'loses its memory');
    this.memory.forget();
    this.#parts.grants.begin();
    if (this.#options.quarantineMs === 0) this.#skip();
  }

  /**
   * Without a quarantine a process may hold the same lock of the old memory and of the new one;
   * their tokens must differ, or nobody could tell which of the two an event is about.
   */
  #skip(): void {
    const holder = { host: 'server', pid: 0, since: 0 };
    const claims = Array.from({ length: MAX_BATCH }, (_, i): Claim => {
      const id = `skipped ${i}`;
      const terms = { kind: 'mutex', permits: 1, limit: 1, ttlMs: 1, queue: true } as const;
      return { resource: id, id, holder, ...terms };
    });
    this.#skipped += SKIPPED;
    for (let i = 0; i < this.#skipped; i += MAX_BATCH) {
      void this.memory.claim(claims);
      void this.memory.release(claims);
    }
  }

  /** Steps the clock forward: out of the model, for claims end before their time. */
  jump(ms: number): void {
    this.#parts.trace.count('fault: clock jump');
    this.#parts.trace.add('server', `its clock jumps by ${ms} ms`);
    this.#aheadMs += ms;
    this.#parts.grants.age(ms);
  }

  connect(process: Process): Store {
    const { memory } = this;
    const { grants } = this.#parts;
    const reach = <T>(verb: () => Promise<T>, claims: readonly Claim[] = []): Promise<T> => {
      const away = claims.some(({ resource }) => resource === this.#away?.resource);
      if (away && this.#away?.hangs) return new Promise(() => {});
      if (!this.#down && !away) return verb();
      return Promise.reject(new StoreError('Down.', { retryable: true, outcome: 'failed' }));
    };
    const statuses = async (
      claims: readonly Claim[],
      verb: (claims: readonly Claim[]) => Promise<readonly ClaimStatus[]>,
    ): Promise<readonly ClaimStatus[]> => {
      const asked = grants.ask();
      const answers = await reach(() => verb(claims), claims);
      claims.forEach((claim, i) => grants.told(process, claim, answers[i] as ClaimStatus, asked));
      return answers;
    };
    return {
      name: memory.name,
      traits: memory.traits,
      ...(this.#options.parted && { partOf: (resource: string) => resource }),
      get lineage() {
        return memory.lineage;
      },
      claim: (claims) => {
        grants.claimed(claims);
        return statuses(claims, (all) => memory.claim(all));
      },
      claimAll: (claims) => {
        grants.claimed(claims);
        return statuses(claims, (all) => memory.claimAll!(all));
      },
      renew: (claims) => statuses(claims, (all) => memory.renew(all)),
      downgrade: async (claim) => {
        const asked = grants.ask();
        const answer = reach(() => memory.downgrade!(claim));
        // Before it tells anybody whom it lets in.
        if (!this.#down) grants.downgraded(claim);
        const status = await answer;
        grants.told(process, claim, status, asked);
        return status;
      },
      release: (claims, after) =>
        reach(() => {
          for (const claim of claims) grants.released(process, claim, after?.ms ?? 0);
          return memory.release(claims, after);
        }, claims),
      handOver: (claim, ids) =>
        reach(async () => {
          const status = await memory.handOver!(claim, ids);
          grants.passed(process, claim, ids, status);
          return status;
        }, [claim]),
      inspect: (resource) => reach(() => memory.inspect(resource)),
      evict: (resource, number, options) =>
        reach(() => {
          const { reason, now, waiting = false } = options;
          if (reason === REPLACED) grants.replaced(resource, number, waiting);
          else grants.evicted(resource, number, now);
          return memory.evict!(resource, number, options);
        }),
      watch: (claim, wake) => {
        const life = this.#life;
        return reach(async () =>
          memory.watch!(claim, (hint) => {
            if (this.#down || life !== this.#life) return;
            if (hint) grants.told(process, claim, hint, BEFORE_ALL);
            wake(hint);
          }),
        );
      },
    };
  }
}
