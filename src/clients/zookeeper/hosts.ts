/**
 * Which server to try next: all addresses of all hosts, in random order, so that clients spread
 * over the servers. After all have failed comes a pause, which doubles each time and has a random
 * length, so that a restarted server does not meet all its clients at one moment.
 */
import { lookup } from 'node:dns/promises';
import { type Clock, sleep } from '../../base/clock.ts';
import { pauseAfter, shuffled } from '../opening.ts';
import type { ZookeeperHost } from './address.ts';

/** One IP address, and the host name that it came from, for checking certificates. */
export interface ResolvedHost extends ZookeeperHost {
  readonly ip: string;
}

/** The limits of an attempt to connect, whatever the session. */
const MIN_ATTEMPT_MS = 250;
const MAX_ATTEMPT_MS = 4000;

export class Hosts {
  readonly #addresses: readonly ZookeeperHost[];
  readonly #clock: Clock;
  #places: ResolvedHost[] = [];
  #rounds = 0;

  constructor(addresses: readonly ZookeeperHost[], clock: Clock) {
    this.#addresses = addresses;
    this.#clock = clock;
  }

  /** How long an attempt may take, so that a session with this timeout has time for each server. */
  attemptMs(timeoutMs: number): number {
    const part = timeoutMs / (this.#addresses.length + 1);
    return Math.min(MAX_ATTEMPT_MS, Math.max(MIN_ATTEMPT_MS, part));
  }

  /** The last server given has replied: the next pauses begin with the shortest again. */
  worked(): void {
    this.#rounds = 0;
  }

  /** @throws an error if no name can be resolved; the next call tries again, after a pause. */
  async next(signal: AbortSignal): Promise<ResolvedHost> {
    if (this.#places.length === 0) {
      if (this.#rounds > 0) await sleep(this.#clock, pauseAfter(this.#rounds), signal, true);
      this.#rounds += 1;
      this.#places = shuffled(await this.#resolve());
    }
    return this.#places.pop() as ResolvedHost;
  }

  async #resolve(): Promise<ResolvedHost[]> {
    const found = await Promise.allSettled(this.#addresses.map(placesOf));
    const places = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (places.length > 0) return places;
    const reasons = found.map((one) => (one.status === 'rejected' ? one.reason : undefined));
    throw new AggregateError(reasons, '');
  }
}

async function placesOf({ host, port }: ZookeeperHost): Promise<ResolvedHost[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => ({ ip: address, port, host }));
}
