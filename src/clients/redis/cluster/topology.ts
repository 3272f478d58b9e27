/** Where the slots of a cluster are, by its own view. */
import type { RedisSource } from '../connection.ts';

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
