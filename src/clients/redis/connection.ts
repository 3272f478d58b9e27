/**
 * Commands over a kept-up connection, each written at most once (kept-connection.ts). Messages come
 * over connections of their own (channels.ts), because one that listens may send no other commands.
 * Both are opened by a `RedisSource`, of which each client package has its own.
 */
import type { Answer } from '../../base/answer.ts';
import { isError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { abortable, first, limited } from '../abortable.ts';
import { KeptConnection } from '../kept-connection.ts';
import type { Source, Wire } from '../wire.ts';
import { isRefusal, judge, refusalCode, refusalIn, refused } from './errors.ts';
import type { RedisGreeting, RedisRefusal, RedisReply } from './link.ts';

export interface RedisWire extends Wire {
  /** Writes the command in this turn, after those before it; settles with the package's reply. */
  send(command: readonly string[]): Promise<unknown>;
  listen(channel: string): Promise<unknown>;
  unlisten(channel: string): Promise<unknown>;
  /** The same for the channels of a cluster's slots, which only one server has. */
  readonly sharded: Pick<RedisWire, 'listen' | 'unlisten'>;
  readonly address?: string;
}

export interface RedisSource extends Source<RedisWire> {
  /** The number of the database, where the client tells it. */
  readonly database?: string;
  /** Calls `switched` when another server has become the primary; answers how to end that. */
  readonly failovers?: (switched: () => void) => () => void;
}

export const REDIS: Omit<RedisSource, 'open' | 'pause'> = {
  server: 'the Redis server',
  // A heartbeat that is lost must not cost the next one as well, which is written meanwhile.
  silenceMs: 2000,
  atOnce: Number.POSITIVE_INFINITY,
  judge,
};

export class RedisConnection extends KeptConnection<RedisWire> {
  send(command: readonly string[]): Answer<RedisReply> {
    const asked = this.ask((wire) => wire.send(command), { quietMs: waitOf(command) });
    return asked.map((raw) => replyOf(raw));
  }

  async sendAll(commands: readonly (readonly string[])[]): Promise<(RedisReply | RedisRefusal)[]> {
    let used: RedisWire | undefined;
    const terms = { quietMs: Math.max(0, ...commands.map(waitOf)) };
    const answers = await this.ask((wire) => {
      used = wire;
      const sent = commands.map((command) => wire.send(command).then(replyOf, refusalOrThrow));
      return Promise.all(sent);
    }, terms);
    const replica = answers.find(isFromReplica);
    if (used && replica) this.drop(used, refused(replica.refusal));
    return answers;
  }
}

function refusalOrThrow(error: unknown): RedisRefusal {
  const refusal = refusalIn(error);
  if (refusal === undefined) throw error;
  return { refusal };
}

function isFromReplica(answer: RedisReply | RedisRefusal): answer is RedisRefusal {
  return isRefusal(answer) && refusalCode(answer.refusal) === 'READONLY';
}

/** The server replies to nothing on this connection until the replicas are there. */
function waitOf(command: readonly string[]): number {
  return command[0] === 'WAIT' ? Number(command[2]) : 0;
}

interface RedisDuplicate {
  connect(): Promise<unknown>;
  on(event: string, listener: (error: unknown) => void): unknown;
}

/** Asks a duplicate once it is connected; its first `error` event says best why that failed. */
export async function askOnce<C extends RedisDuplicate, T>(
  client: C,
  signal: AbortSignal,
  terms: { readonly ask: (client: C) => Promise<T>; readonly end: (client: C) => void },
): Promise<T> {
  let cause: unknown;
  const keep = (error: unknown): void => {
    cause ??= error;
  };
  for (const event of ['error', 'node error']) client.on(event, keep);
  try {
    await abortable(signal, client.connect());
    return await terms.ask(client);
  } catch (error) {
    throw cause ?? error;
  } finally {
    terms.end(client);
  }
}

/** The pause that a client's own strategy for reconnecting has; without a number, the longest. */
export function pauseOf(strategy: unknown): number {
  return typeof strategy === 'number' ? strategy : Number.POSITIVE_INFINITY;
}

/** A line of a Sentinel's reply to INFO, by which every store greets a server. */
const SENTINEL = /^redis_mode:sentinel\r?$/m;

/** The same source, but `greet` questions the server of a wire before it is handed out. */
export function greeted(
  source: RedisSource,
  greet: RedisGreeting,
  at: { readonly cluster: boolean },
): RedisSource {
  return {
    ...source,
    open: async (terms) => {
      const wire = await source.open(terms);
      const ask = async (command: readonly string[]) => {
        const reply = replyOf(await wire.send(command));
        if (SENTINEL.test(String(reply))) throw refused('SENTINEL redis_mode is sentinel');
        return reply;
      };
      const close = { end: () => wire.close() };
      // As long as a connection may be silent, since a server that stands still may be replaced.
      await limited(source.silenceMs, [terms.signal], (signal) => {
        return first(close, signal, () => greet(ask, at));
      });
      return wire;
    },
  };
}

/** No script of the store nests its replies deeper. */
const DEEPEST = 20;

/** As RESP2 has it. @throws StoreError for what no server replies to a command of the store. */
function replyOf(raw: unknown, depth = 0): RedisReply {
  if (typeof raw === 'string' || typeof raw === 'number' || raw === null) return raw;
  if (typeof raw === 'boolean') return raw ? 1 : 0;
  if (typeof raw === 'bigint') return String(raw);
  if (Buffer.isBuffer(raw)) return raw.toString();
  if (typeof raw !== 'object' || isError(raw) || depth > DEEPEST) {
    const message = 'The Redis server returned an unexpected reply.';
    throw new StoreError(message, { retryable: true, outcome: 'unknown' });
  }
  const parts: RedisReply[] = [];
  // Sees holes, and is faster than `Array.from`.
  for (const part of partsOf(raw)) parts.push(replyOf(part, depth + 1));
  return parts;
}

function partsOf(raw: object): Iterable<unknown> {
  if (raw instanceof Map) return [...raw].flat();
  return Symbol.iterator in raw ? (raw as Iterable<unknown>) : Object.entries(raw).flat();
}
