/** What the stores and fences of Redis see of all clients (client.ts, cluster/cluster-link.ts). */

/** A reply as in RESP2: text, whole numbers below 2^53, and `null` for nothing. */
export type RedisReply = string | number | null | readonly RedisReply[];

export interface RedisRefusal {
  readonly refusal: string;
}

export interface RedisLink {
  /** True if all keys of a command must be of one slot, and each slot has a server. */
  readonly cluster: boolean;
  /** The number of the database; '?' if the client does not tell it. */
  readonly database: string;
  /**
   * Sends a command to the server of this key, on a connection of our own. The client never sends
   * it again once it may have been carried out.
   * @throws StoreError, also for what the server refuses.
   */
  send(key: string, command: readonly string[]): Promise<RedisReply>;
  /** Several commands for this key, in a row on one connection; each with its own outcome. */
  sendAll(
    key: string,
    commands: readonly (readonly string[])[],
  ): Promise<(RedisReply | RedisRefusal)[]>;
  /** In a cluster: the lowest slot of the server that has this key. */
  lowestSlot(key: string): Promise<number>;
  /** The same command to every primary, as for SCAN: one sender for each. */
  primaries(): Promise<readonly ((command: readonly string[]) => Promise<RedisReply>)[]>;
  /**
   * Calls `wake` with each message of a channel, and without one after an interruption, which may
   * have lost messages. In a cluster the channel is that of the key's slot, or one of the whole
   * cluster. Many channels share a connection, apart from commands.
   */
  follow(
    key: string,
    channel: string,
    wake: (message?: string) => void,
    reach?: 'slot' | 'cluster',
  ): Promise<AsyncDisposable>;
  close(): Promise<void>;
}

/** Questions the server of a new connection first; if this rejects, that is not used. */
export type RedisGreeting = (
  ask: (command: readonly string[]) => Promise<RedisReply>,
  at: { readonly cluster: boolean },
) => Promise<void>;
