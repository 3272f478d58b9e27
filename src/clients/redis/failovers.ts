/**
 * Learns from Sentinels that another server is the primary now.
 *
 * A planned fail-over leaves the old primary alive, and it takes writes until a Sentinel makes a
 * replica of it, some ten seconds later. A connection that stayed there would be granted what the
 * new primary grants to others. So the store listens to every Sentinel that the client names. As
 * soon as one of them says that a server is no longer the primary, all connections are reopened,
 * and none leads to that server while it may still take writes, even though a Sentinel that does
 * not know of the fail-over yet still names it.
 * What would break it: a fail-over that no Sentinel reports; or a late Sentinel that names a server
 * whose address differs for the Sentinels and for this process. A server left alive is then noticed
 * as late as its replacement by a replica is (docs/stores/redis.md, Hazards).
 */
import { KeptConnection } from '../kept-connection.ts';
import { listening } from '../listening.ts';
import type { RedisSource } from './connection.ts';

/** Sentinels publish it to those who listen to them: the group, the old address, the new one. */
const CHANNEL = '+switch-master';

/** Sentinel makes a replica of a server that calls itself a primary for 8 s, when it looks. */
const DEMOTED_MS = 15_000;

export class Failovers {
  readonly #name: string;
  readonly #sentinels: readonly RedisSource[];
  /** By address: when it stopped being the primary, on the clock of `performance`. */
  readonly #former = new Map<string, number>();

  /** @param name what the Sentinels call the group. */
  constructor(name: string, sentinels: readonly RedisSource[]) {
    this.#name = name;
    this.#sentinels = sentinels;
  }

  /** Calls `switched` at each fail-over; answers how to end that. */
  watch(switched: () => void): () => void {
    const received = (message: string): void => {
      const [name, oldHost, oldPort, host, port] = message.split(' ');
      if (name !== this.#name) return;
      this.#former.set(`${oldHost}:${oldPort}`, performance.now());
      this.#former.delete(`${host}:${port}`);
      switched();
    };
    const ends = this.#sentinels.map((sentinel) => listenTo(sentinel, received, switched));
    return () => {
      for (const end of ends) end();
    };
  }

  /** True if this server, no longer the primary, may still take writes. */
  isFormer(address: string): boolean {
    const since = this.#former.get(address);
    return since !== undefined && performance.now() - since < DEMOTED_MS;
  }
}

/** Tries until it listens. `missed` is called when a message may have been lost. */
function listenTo(
  sentinel: RedisSource,
  received: (message: string) => void,
  missed: () => void,
): () => void {
  const connection = new KeptConnection({ ...sentinel, place: undefined });
  let over = false;
  const listen = () => connection.listen({ channel: CHANNEL, received, resumed: missed });
  const terms = { end: () => {}, late: missed, cannot: () => {} };
  void listening(listen, { wanted: () => !over, ...terms });
  return () => {
    over = true;
    connection.close();
  };
}
