/** The address at which a server of a cluster is reached. */
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
