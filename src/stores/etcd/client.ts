/**
 * As much of etcd as locks need: transactions, leases and watches of API version 3.
 *
 * Keys and values are text. Every call has a time-out of the client's own and rejects with a
 * StoreError, which says whether the call may have been carried out; none is ever sent twice once
 * it may have been.
 */

export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
  /** Writes since its creation; 0 for a key that is not there. */
  readonly version: bigint;
  /** 0: none. */
  readonly lease: bigint;
}

/** One key, or all from `key` to before `end`. */
export interface Keys {
  readonly key: string;
  readonly end?: string;
}

/** Of a range, it is to be true of every key, and of an absent one where there is none. */
export interface Compare extends Keys {
  readonly target: 'version' | 'create' | 'mod' | 'value' | 'lease';
  readonly is: '=' | '!=' | '<' | '>';
  readonly to: bigint | string;
}

export interface Range extends Keys {
  /** Default: all. */
  readonly limit?: number;
  /** By create revision. Default: by key. */
  readonly oldestFirst?: boolean;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

export interface Put {
  readonly key: string;
  readonly value: string;
  /** `keep`: that which the key has; refused where there is no key. Default: none. */
  readonly lease?: bigint | 'keep';
}

export type Operation =
  | { readonly range: Range }
  | { readonly put: Put }
  | { readonly delete: Keys }
  | { readonly txn: Txn };

/** All comparisons, also of transactions within it, are made before anything is written. */
export interface Txn {
  readonly compare?: readonly Compare[];
  readonly success: readonly Operation[];
  readonly failure?: readonly Operation[];
}

export interface RangeAnswer {
  readonly kvs: readonly KeyValue[];
  /** Of all keys, whatever the limit. */
  readonly count: number;
}

export interface TxnAnswer {
  readonly succeeded: boolean;
  /** Of the operations of the branch that was taken, in order. */
  readonly answers: readonly Answer[];
}

export type Answer =
  | { readonly range: RangeAnswer }
  | { readonly put: true }
  | { readonly deleted: number }
  | { readonly txn: TxnAnswer };

export interface Reply extends TxnAnswer {
  /** Of the whole store after it; everything written in it has this one. */
  readonly revision: bigint;
  /** Names the cluster: revisions of different ones do not compare. */
  readonly cluster: bigint;
}

export interface Granted {
  readonly id: bigint;
  /** What the server gives, which may be more than was asked for. */
  readonly ttlMs: number;
}

/** A put or a deletion, of which `kv` has only the key and `modRevision`. */
export interface Change {
  readonly deleted: boolean;
  readonly kv: KeyValue;
}

export interface Watcher extends Keys {
  /**
   * The first revision to be told of. Default: what comes after `started`. A watch that has to
   * catch up is served by etcd every 100 ms only.
   */
  readonly from?: bigint;
  /** The server has it, once: whatever is written after this revision will be told. */
  readonly started: (revision: bigint) => void;
  /** All of one revision at once, in their order; never skipping any, never twice. */
  readonly changed: (changes: readonly Change[], revision: bigint) => void;
  /** What was to be told is no longer known (compacted): read again, then watch again. */
  readonly lost: () => void;
}

export interface EtcdClient {
  txn(txn: Txn): Promise<Reply>;
  grant(ttlMs: number): Promise<Granted>;
  /** Answers the whole life that it has again, in ms; 0: it is dead. */
  keepAlive(lease: bigint): Promise<number>;
  revoke(lease: bigint): Promise<void>;
  /** Life left, in ms, to the second; 0: it is dead. */
  timeToLive(lease: bigint): Promise<number>;
  /** Goes on over interruptions until it is ended. */
  watch(watcher: Watcher): Disposable;
  close(): void;
}
