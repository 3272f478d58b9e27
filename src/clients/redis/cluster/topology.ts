/**
 * Where the slots of a cluster are, by its own view.
 *
 * One look serves all callers that come while it is under way. After a failure the next look waits
 * for a moment, so that a cluster in trouble does not get ever more requests.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { singleFlight } from '../../../base/single-flight.ts';
import { abortable, limited } from '../../abortable.ts';
import { asked } from '../../opening.ts';
import type { RedisSource } from '../connection.ts';
import { judge, questionOf } from '../errors.ts';

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** The user's map from addresses of the cluster to those that this process can reach. */
export type PlaceMap =
  | Record<string, RedisAddress>
  | ((address: string) => RedisAddress | null | undefined);

/** The place of `host:port`, as a cluster names it; a server may not know its own host. */
export function placeOf(address: string, map: PlaceMap | null | undefined): Partial<RedisAddress> {
  const mapped = typeof map === 'function' ? map(address) : map?.[address];
  if (mapped) return { host: mapped.host, port: mapped.port };
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { ...(host && { host }), port: Number(address.slice(colon + 1)) };
}

/** The cluster's own view, at one moment, of where its slots are. */
export interface Topology {
  readonly slots: readonly (string | undefined)[];
  /** How to reach a server, by an address of `slots` or of a redirection. */
  at(address: string): RedisSource;
}

/** Asks the cluster; rejects with the client package's reason. */
export type Discover = (signal: AbortSignal) => Promise<Topology>;

/** How long a command is sent elsewhere or again, or waits for the cluster to be found. */
export const PATIENCE_MS = 1000;
/** The pause between two tries while the servers rearrange slots. */
export const PAUSE_MS = 50;
const ATTEMPT_MS = 5000;

export interface TopologiesParts {
  readonly discover: Discover;
  readonly closing: AbortSignal;
  readonly found: (topology: Topology, before: Topology | undefined) => void;
}

export class Topologies {
  readonly #parts: TopologiesParts;
  /** Undefined until the cluster was found. */
  last: Topology | undefined;
  #failedAt = 0;
  readonly refresh: () => Promise<Topology> = singleFlight(() => this.#look());

  constructor(parts: TopologiesParts) {
    this.#parts = parts;
  }

  async known(): Promise<Topology> {
    return this.last ?? (await this.fresh());
  }

  /** For a caller that cannot go on without a fresh one. @throws StoreError */
  async fresh(): Promise<Topology> {
    try {
      return await limited(PATIENCE_MS, [], (signal) => abortable(signal, this.refresh()));
    } catch (error) {
      const judgement = judge(error, 'open');
      throw this.last ? judgement.error : asked(judgement, questionOf());
    }
  }

  async #look(): Promise<Topology> {
    const { discover, closing, found } = this.#parts;
    const rest = this.#failedAt + PAUSE_MS - performance.now();
    if (rest > 0) await sleep(rest, undefined, { signal: closing });
    closing.throwIfAborted();
    try {
      const topology = await limited(ATTEMPT_MS, [closing], discover);
      const before = this.last;
      this.last = topology;
      found(topology, before);
      return topology;
    } catch (error) {
      this.#failedAt = performance.now();
      throw error;
    }
  }
}
