/**
 * As much of etcd as locks need: transactions, leases and watches of API version 3.
 *
 * Keys and values are text. Every call has a time-out of the client's own and rejects with a
 * StoreError, which says whether the call may have been carried out; none but a keep-alive is sent
 * twice once it may have been.
 */

export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
  /** Writes since its creation; 0 for a missing key. */
  readonly version: bigint;
  /** 0: none. */
  readonly lease: bigint;
}

/** One key, or all from `key` to before `end`. */
export interface KeyRange {
  readonly key: string;
  readonly end?: string;
}

/** On a range, it must be true of every key; on an empty range, of an absent one. */
export interface Compare extends KeyRange {
  readonly target: 'version' | 'create' | 'mod' | 'value' | 'lease';
  readonly is: '=' | '!=' | '<' | '>';
  readonly to: bigint | string;
}

export interface RangeQuery extends KeyRange {
  /** Default: all. */
  readonly limit?: number;
  /** Orders by create revision. Default: by key. */
  readonly oldestFirst?: boolean;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

export interface EtcdPut {
  readonly key: string;
  readonly value: string;
  /** `keep`: the key's own; refused if there is no key. Default: none. */
  readonly lease?: bigint | 'keep';
}

export type Operation =
  | { readonly range: RangeQuery }
  | { readonly put: EtcdPut }
  | { readonly delete: KeyRange }
  | { readonly txn: Txn };

/** All comparisons, also of transactions within it, are made before anything is written. */
export interface Txn {
  readonly compare?: readonly Compare[];
  readonly success: readonly Operation[];
  readonly failure?: readonly Operation[];
}

export interface RangeAnswer {
  readonly kvs: readonly KeyValue[];
  /** The number of all keys, whatever the limit. */
  readonly count: number;
}

export interface TxnAnswer {
  readonly succeeded: boolean;
  /** The answers to the operations of the branch that was taken, in order. */
  readonly answers: readonly OperationAnswer[];
}

export type OperationAnswer =
  | { readonly range: RangeAnswer }
  | { readonly put: true }
  | { readonly deleted: number }
  | { readonly txn: TxnAnswer };

export interface EtcdReply extends TxnAnswer {
  /** The revision of the whole store after it; everything written in it has this one. */
  readonly revision: bigint;
  /** Names the cluster: revisions of different ones cannot be compared. */
  readonly cluster: bigint;
}

export interface Granted {
  readonly id: bigint;
  /** What the server grants, which may be more than requested. */
  readonly ttlMs: number;
}

/** A put or a deletion, of which `kv` has only the key and `modRevision`. */
export interface KeyChange {
  readonly deleted: boolean;
  readonly kv: KeyValue;
}

export interface EtcdWatcher extends KeyRange {
  /**
   * The first revision to report. Default: what comes after `started`. etcd serves a watch that has
   * to catch up only every 100 ms.
   */
  readonly from?: bigint;
  /** Called once, when the server has it; it reports all writes after `revision`. */
  readonly started: (revision: bigint) => void;
  /** All of one revision at once, in their order; never skipping any, never twice. */
  readonly changed: (changes: readonly KeyChange[], revision: bigint) => void;
  /** The server has lost (compacted) some changes: read again, then watch again. */
  readonly lost: () => void;
}

export interface EtcdClient {
  txn(txn: Txn): Promise<EtcdReply>;
  grant(ttlMs: number): Promise<Granted>;
  /** Returns its whole new life, in ms; 0: it is dead. */
  keepAlive(lease: bigint): Promise<number>;
  revoke(lease: bigint): Promise<void>;
  /** Life left, in ms, to the second; 0: it is dead. */
  timeToLive(lease: bigint): Promise<number>;
  /** Goes on over interruptions until it is ended. */
  watch(watcher: EtcdWatcher): Disposable;
  close(): void;
}
