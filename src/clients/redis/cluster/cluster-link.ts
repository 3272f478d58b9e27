/**
 * Connections to the primaries of a cluster.
 *
 * The client package finds the slots; the connections are our own, one to a primary, so that
 * the rules of `KeptConnection` hold and commands keep their order. A server that replies MOVED,
 * ASK, TRYAGAIN or CLUSTERDOWN has not carried out the command, so it may be written again
 * elsewhere: for a second at most, then the reply stands. What follows it in a row goes with it: a
 * WAIT counts the writes before it on its own connection. While a slot is handed to another server,
 * both servers carry out its commands, and both then load a script.
 * What would break it: a client that follows MOVED for a single command of a series; a row whose
 * later commands are for another slot.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { singleFlight } from '../../../base/single-flight.ts';
import { abortable, limited } from '../../abortable.ts';
import { Channels } from '../../channels.ts';
import { asked } from '../../opening.ts';
import { closed } from '../../wire.ts';
import { greeted, REDIS, RedisConnection, type RedisSource } from '../connection.ts';
import { isRedirection, isRefusal, judge, questionOf, refusalCode, refused } from '../errors.ts';
import type { RedisGreeting, RedisLink, RedisRefusal, RedisReply } from '../link.ts';
import { slotOf } from '../slots.ts';
import type { Discover, Topology } from './topology.ts';

/** How long a command is sent elsewhere or again, or waits for the cluster to be found. */
const PATIENCE_MS = 1000;
/** The pause between two tries, so that a cluster in trouble does not get ever more requests. */
const PAUSE_MS = 50;
const ATTEMPT_MS = 5000;

type Commands = readonly (readonly string[])[];
type NodeAnswer = RedisReply | RedisRefusal;
type ChannelsPlace = number | 'cluster';

export class ClusterLink implements RedisLink {
  readonly cluster = true;
  readonly database = '0';
  readonly #discover: Discover;
  readonly #greeting: RedisGreeting;
  readonly #closing = new AbortController();
  readonly #connections = new Map<string, RedisConnection>();
  /** By slot; and those of the whole cluster. A slot without any has no connection for them. */
  readonly #channels = new Map<ChannelsPlace, Channels>();
  readonly #heirs = new Map<number, { readonly address: string; readonly until: number }>();
  #turn = Math.floor(Math.random() * 1000);
  /** Undefined until the cluster was found. */
  #topology: Topology | undefined;
  #failedAt = 0;

  constructor(discover: Discover, greeting: RedisGreeting) {
    this.#discover = discover;
    this.#greeting = greeting;
  }

  async send(key: string, command: readonly string[]): Promise<RedisReply> {
    await this.#passingOn(slotOf(key), command);
    const [answer = null] = await this.sendAll(key, [command]);
    if (isRefusal(answer)) throw refused(answer.refusal);
    return answer;
  }

  async sendAll(key: string, commands: Commands): Promise<NodeAnswer[]> {
    const slot = slotOf(key);
    const address = this.#topology?.slots[slot];
    const known = address === undefined ? undefined : this.#connections.get(address);
    const connection = known ?? (await this.#serverOf(slot));
    const answers = await connection.sendAll(commands);
    const [first = null] = answers;
    return isRedirection(first) ? this.#redirected(slot, commands, answers) : answers;
  }

  async lowestSlot(key: string): Promise<number> {
    const { slots } = await this.#known();
    const slot = slotOf(key);
    const address = slots[slot];
    return address === undefined ? slot : slots.indexOf(address);
  }

  async primaries(): Promise<readonly ((command: readonly string[]) => Promise<RedisReply>)[]> {
    const topology = await this.#known();
    return addresses(topology).map((address) => {
      const connection = this.#to(address, topology);
      return (command) => connection.send(command);
    });
  }

  /**
   * A slot that moves takes its listeners off, and not all clients say so. A later command finds
   * out, and then the channels go after it.
   */
  async follow(
    ...[key, channel, wake, reach = 'slot']: Parameters<RedisLink['follow']>
  ): Promise<AsyncDisposable> {
    this.#closing.signal.throwIfAborted();
    const where = reach === 'slot' ? slotOf(key) : reach;
    try {
      return await this.#channelsOf(where).follow(channel, wake);
    } catch (error) {
      if (refusalCode(error) !== 'MOVED') throw error;
      await this.#fresh();
      this.#closing.signal.throwIfAborted();
      return this.#channelsOf(where).follow(channel, wake);
    }
  }

  async close(): Promise<void> {
    for (const channels of this.#channels.values()) channels.close();
    this.#closing.abort(closed(REDIS.server));
    for (const connection of this.#connections.values()) connection.close();
  }

  #channelsOf(where: ChannelsPlace): Channels {
    const known = this.#channels.get(where);
    if (known) return known;
    const source = where === 'cluster' ? this.#anywhere() : this.#shard(where);
    const channels = new Channels(source, () => {
      if (this.#channels.get(where) === channels) this.#channels.delete(where);
      channels.close();
    });
    this.#channels.set(where, channels);
    return channels;
  }

  #anywhere(): RedisSource {
    return {
      ...REDIS,
      open: async (terms) => {
        const topology = await this.#known();
        const all = addresses(topology);
        // A different server each time, since the last one may be gone.
        const address = all[this.#turn++ % all.length] ?? '';
        return this.#source(address, topology).open(terms);
      },
    };
  }

  /** The wires to whichever server has the slot, which listen to its channels. */
  #shard(slot: number): RedisSource {
    return {
      ...REDIS,
      open: async (terms) => {
        for (;;) {
          const topology = await this.#known();
          const address = topology.slots[slot];
          const wire = await this.#source(address ?? '', topology).open(terms);
          // The slot may have moved meanwhile.
          if (this.#topology?.slots[slot] === address) return { ...wire, ...wire.sharded };
          wire.close();
        }
      },
    };
  }

  async #serverOf(slot: number): Promise<RedisConnection> {
    let topology = await this.#known();
    if (topology.slots[slot] === undefined) topology = await this.#fresh();
    const address = topology.slots[slot];
    if (address === undefined) throw refused('CLUSTERDOWN Hash slot not served');
    return this.#to(address, topology);
  }

  #to(address: string, topology: Topology): RedisConnection {
    let connection = this.#connections.get(address);
    if (!connection) {
      const source = this.#source(address, topology);
      connection = new RedisConnection(greeted(source, this.#greeting, { cluster: true }));
      if (this.#closing.signal.aborted) connection.close();
      else this.#connections.set(address, connection);
    }
    return connection;
  }

  /** Looks for a successor whenever this server is lost or not found. */
  #source(address: string, topology: Topology): RedisSource {
    const { open } = topology.at(address);
    let first = true;
    const look = (): void => {
      this.#refresh().catch(() => {});
    };
    return {
      ...REDIS,
      open: async (terms) => {
        if (!first) look();
        first = false;
        try {
          return await open(terms);
        } catch (error) {
          look();
          throw error;
        }
      },
    };
  }

  async #redirected(slot: number, commands: Commands, first: NodeAnswer[]): Promise<NodeAnswer[]> {
    let answers = first;
    const deadline = performance.now() + PATIENCE_MS;
    while (performance.now() < deadline && !this.#closing.signal.aborted) {
      const [cause = null] = answers;
      if (!isRedirection(cause)) break;
      const [code, , address = ''] = cause.refusal.split(' ');
      if (code === 'TRYAGAIN' || code === 'CLUSTERDOWN') await sleep(PAUSE_MS);
      if (code === 'MOVED' || code === 'CLUSTERDOWN') await this.#fresh().catch(() => {});
      const asking = code === 'ASK' && this.#topology;
      if (asking) this.#heirs.set(slot, { address, until: performance.now() + PATIENCE_MS });
      const connection = asking ? this.#to(address, asking) : await this.#serverOf(slot);
      const got = await connection.sendAll(asking ? [['ASKING'], ...commands] : commands);
      answers = asking ? got.slice(1) : got;
    }
    return answers;
  }

  /** A script is loaded without a key: while a slot is handed over, both servers get it. */
  async #passingOn(slot: number, command: readonly string[]): Promise<void> {
    const heir = this.#heirs.get(slot);
    const topology = this.#topology;
    if (!heir || !topology) return;
    if (performance.now() > heir.until) this.#heirs.delete(slot);
    else if (command[0] === 'SCRIPT') await this.#to(heir.address, topology).send(command);
  }

  async #known(): Promise<Topology> {
    return this.#topology ?? (await this.#fresh());
  }

  /** For a caller that cannot go on without a fresh one. @throws StoreError */
  async #fresh(): Promise<Topology> {
    try {
      return await limited(PATIENCE_MS, [], (signal) => abortable(signal, this.#refresh()));
    } catch (error) {
      const judgement = judge(error, 'open');
      throw this.#topology ? judgement.error : asked(judgement, questionOf());
    }
  }

  /** One look serves all callers that come while it is under way. */
  readonly #refresh = singleFlight(async (): Promise<Topology> => {
    const { signal } = this.#closing;
    const rest = this.#failedAt + PAUSE_MS - performance.now();
    if (rest > 0) await sleep(rest, undefined, { signal });
    signal.throwIfAborted();
    try {
      const topology = await limited(ATTEMPT_MS, [signal], this.#discover);
      this.#found(topology, this.#topology);
      return topology;
    } catch (error) {
      this.#failedAt = performance.now();
      throw error;
    }
  });

  #found(topology: Topology, before: Topology | undefined): void {
    this.#topology = topology;
    const { slots } = topology;
    const now = new Set(slots);
    const left = before !== undefined && addresses(before).some((each) => !now.has(each));
    // One that has left the cluster may go on by itself, and then its listeners hear nothing.
    for (const [where, channels] of this.#channels) {
      if (where === 'cluster' ? left : slots[where] !== before?.slots[where]) channels.move();
    }
    for (const [address, connection] of this.#connections) {
      if (now.has(address)) continue;
      this.#connections.delete(address);
      // A caller that asks again reaches the successor.
      connection.close(refused('CLUSTERDOWN The server has left the cluster'));
    }
  }
}

function addresses({ slots }: Topology): string[] {
  return [...new Set(slots)].filter((address) => address !== undefined);
}
