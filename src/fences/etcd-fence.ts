/**
 * The fence where the guarded data is in etcd.
 *
 * Invariant: a write of a holder is carried out only if nobody has entered since that holder did.
 * It holds because each entry writes the fence's key, whose revision is then that of the entry, and
 * each write is a transaction that compares it. Entries follow each other in the order of their
 * tokens: each puts what it has decided only where the key is still as it was read. So whoever has
 * entered reads what no older holder can change any more. The same holder, once it has entered
 * again, is safe from its own earlier writes whose outcome it did not learn.
 * What would break it: a read before `enter`, a write without the comparison, or data in another
 * cluster than the fence.
 * Why this is not a comparison of the lock's own key: docs/design/0063-etcd-fence.md.
 */

import { UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import type { FencingToken } from '../contract/token.ts';
import type { Compare, EtcdClient, KeyValue, Reply, Txn } from '../stores/etcd/client.ts';
import { checkKind, type EnterToken, readLease, type Seen } from './entering.ts';
import { StaleTokenError } from './errors.ts';
import { enteredSince, raised, seenIn, textOf } from './raising.ts';

export interface EtcdFenceOptions {
  /** What the keys of all fences begin with; default `holdfast-fence/`. */
  readonly prefix?: string;
}

/** As much of the client of `holdfast/etcd` as the fence uses. */
export type EtcdTransactions = Pick<EtcdClient, 'txn'>;

export interface EtcdEntry {
  /**
   * What has to be true in each transaction that writes what the lock guards, also in those of
   * another client. Nothing for a reader, who keeps older writers out and writes nothing.
   */
  readonly compare: readonly Compare[];
  /**
   * A transaction that is carried out only if nobody has entered since. That of a reader only
   * reads, without the comparison.
   * @throws StaleTokenError if somebody has; nothing was written.
   * @throws UsageError, unsent, if a reader would write.
   * @throws StoreError, after which `enter` anew if a write may have happened.
   */
  txn(txn: Txn): Promise<Reply>;
}

export interface EtcdFence {
  /**
   * Raises the fence to this token. Call it before anything is read that the lock guards.
   * @throws StaleTokenError if a newer holder was here.
   * @throws UsageError, UnsupportedError for permits, StoreError.
   */
  enter(etcd: EtcdTransactions, lease: EnterToken): Promise<EtcdEntry>;
  /**
   * Makes the fence follow this lease's lineage from now on, whatever it has seen. An operator's
   * act, after locks have moved to another store; everybody else must be stopped.
   */
  adopt(etcd: EtcdTransactions, lease: EnterToken): Promise<void>;
}

/**
 * A fence in the etcd that holds the guarded data.
 *
 * @example
 * import { etcdFence } from 'holdfast/fence';
 *
 * const fence = etcdFence();
 * await locks.mutex('config').run(async (lease) => {
 *   const entry = await fence.enter(etcd, lease);
 *   const value = await readConfig();
 *   await entry.txn({ success: [{ put: { key: 'config', value } }] });
 * });
 *
 * @throws UsageError
 */
export function etcdFence(options: EtcdFenceOptions = {}): EtcdFence {
  const { prefix = 'holdfast-fence/' } = readOptions(options, ['prefix'], 'etcdFence');
  if (typeof prefix !== 'string' || !prefix.isWellFormed() || prefix === '') {
    throw new UsageError(`prefix must be text, and not empty, not ${show(prefix)}.`);
  }
  const keyOf = ({ resource }: FencingToken): string => prefix + resource;
  return {
    async enter(etcd, lease) {
      const token = readLease(lease);
      checkKind(token);
      return entryOf(etcd, token, await raise(etcd, keyOf(token), token));
    },
    async adopt(etcd, lease) {
      const token = readLease(lease);
      const { lineage } = token;
      const value = textOf({ lineage, token: token.token, floor: 0n });
      await etcd.txn({ success: [{ put: { key: keyOf(token), value } }] });
    },
  };
}

/** The comparison that is true as long as nobody has entered since. */
async function raise(etcd: EtcdTransactions, key: string, token: FencingToken): Promise<Compare> {
  const range = { range: { key } };
  let [known] = kvsIn(await etcd.txn({ success: [range] }));
  for (;;) {
    const value = textOf(raised(token, known && seenAt(known)));
    const unchanged: Compare = { key, target: 'mod', is: '=', to: known?.modRevision ?? 0n };
    const reply = await etcd.txn({
      ...{ compare: [unchanged], success: [{ put: { key, value } }], failure: [range] },
    });
    if (reply.succeeded) return { ...unchanged, to: reply.revision };
    // Somebody else has entered meanwhile.
    [known] = kvsIn(reply);
  }
}

function entryOf(etcd: EtcdTransactions, token: FencingToken, unchanged: Compare): EtcdEntry {
  const compare = token.kind === 'read' ? [] : [unchanged];
  const { key } = unchanged;
  return {
    compare,
    async txn(txn) {
      if (token.kind === 'read' && writes(txn)) throw new UsageError('A reader writes nothing.');
      // The caller's own comparisons choose its branch, so the fence's stand around them.
      const fenced: Txn = { compare, success: [{ txn }], failure: [{ range: { key } }] };
      const reply = await etcd.txn(fenced);
      const [answer] = reply.answers;
      if (reply.succeeded && answer && 'txn' in answer) return { ...reply, ...answer.txn };
      const [known] = kvsIn(reply);
      throw known ? enteredSince(token, seenAt(known)) : gone(token);
    },
  };
}

function writes({ success, failure = [] }: Txn): boolean {
  return [...success, ...failure].some(
    (one) => 'put' in one || 'delete' in one || ('txn' in one && writes(one.txn)),
  );
}

function gone({ resource, token }: FencingToken): StaleTokenError {
  return new StaleTokenError(resource, token, 0n, ' The key of the fence was deleted.');
}

function kvsIn({ answers }: Reply): readonly KeyValue[] {
  const [answer] = answers;
  return answer && 'range' in answer ? answer.range.kvs : [];
}

function seenAt({ key, value }: KeyValue): Seen {
  return seenIn(value, `The key ${show(key)}`);
}
