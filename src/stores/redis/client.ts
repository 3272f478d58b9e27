/**
 * What the store needs of a client, whichever package it comes from.
 */

/** As RESP2 has it; `null` where there is nothing. */
export type Reply = string | number | null | readonly Reply[];

/** An error that the server answered, as opposed to one of the connection. */
export interface Refusal {
  readonly refusal: string;
}

/** Connections to one server, to the primary that Sentinel names, or to a cluster. */
export interface Link {
  /** True: keys of one command must be of one slot, and each slot has a server. */
  readonly cluster: boolean;
  /**
   * Sends a command to the server of this key, on a connection of our own. Never sent again by the
   * client once it may have been carried out.
   * @throws StoreError, also for what the server refuses.
   */
  send(key: string, command: readonly string[]): Promise<Reply>;
  /** Several commands, one right after the other on one connection; each with its own outcome. */
  sendAll(key: string, commands: readonly (readonly string[])[]): Promise<(Reply | Refusal)[]>;
  /** The same command to every primary, as for SCAN: one sender for each. */
  primaries(): Promise<readonly ((command: readonly string[]) => Promise<Reply>)[]>;
  /**
   * Listens to one channel, on a connection of its own. `received` gets each message; `resumed` is
   * called when it listens again after an interruption, in which messages may have been lost.
   */
  listen(channel: string, received: (message: string) => void, resumed: () => void): Promise<void>;
  close(): Promise<void>;
}
