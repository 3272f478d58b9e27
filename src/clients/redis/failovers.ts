/**
 * Learns from Sentinels that another server is the primary now.
 *
 * A planned fail-over leaves the old primary alive, and it takes writes until a Sentinel makes a
 * replica of it, some ten seconds later. The new one grants nothing for longer than that
 * (record.lua), but leases go on there. At the old one they end a ttl after their last heartbeat
 * to it, and then it would grant their locks to a process that has stayed.
 * Invariant: all processes leave within two thirds of a ttl of the first to leave. For this, the
 * store listens to every Sentinel that the client names, and asks for the primary only when it
 * listens to those that reply. As soon as one reports a fail-over, all connections are reopened,
 * also those on their way, and none leads to the former primary while it may still take writes.
 * What would break it: Sentinels that say so that long after each other. The one that leads a
 * fail-over says it last: late for a client that names no other (docs/stores/redis.md, Hazards).
 */
import { KeptConnection } from '../kept-connection.ts';
import { listening } from '../listening.ts';
import type { RedisSource } from './connection.ts';

/** Sentinels publish it to those who listen to them: the group, the old address, the new one. */
const CHANNEL = '+switch-master';

/** Sentinel makes a replica of a server that calls itself a primary for 8 s, when it looks. */
const DEMOTED_MS = 15_000;

/** The first connection waits so long for a Sentinel that does not reply: less than a request. */
const REPLY_MS = 500;

export class Failovers {
  /** Settles when the Sentinels that reply are listened to. Never rejects. */
  ready: Promise<unknown> = Promise.resolve();
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
    let over = false;
    // After an interruption, or a try that came late, a message may have been lost.
    const listener = { channel: CHANNEL, received, resumed: switched };
    const terms = { wanted: () => !over, end: () => {}, late: switched, cannot: () => {} };
    const all = this.#sentinels.map((one) => new KeptConnection({ ...one, place: undefined }));
    const first = all.map((connection) =>
      listening(() => connection.listen(listener, { withinMs: REPLY_MS }), terms),
    );
    this.ready = Promise.all(first);
    return () => {
      over = true;
      for (const connection of all) connection.close();
    };
  }

  /** True if this server, no longer the primary, may still take writes. */
  isFormer(address: string): boolean {
    const since = this.#former.get(address);
    return since !== undefined && performance.now() - since < DEMOTED_MS;
  }
}
