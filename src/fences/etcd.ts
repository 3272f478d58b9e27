/**
 * The fence where the guarded data is in etcd.
 *
 * Invariant: a holder's write is carried out only if no holder has entered since it did. It holds
 * because each entry writes the fence's key, whose revision is then that of the entry, and each
 * write is a transaction that compares it. Entries follow each other in the order of their tokens:
 * each puts its decision only if the key is unchanged since it was read. So no older holder can
 * change the data that a holder reads after it has entered. A holder that has entered again is safe
 * from its own earlier writes of unknown outcome.
 * What would break it: a read before `enter`, a write without the comparison, or data in another
 * cluster than the fence.
 * Why this is not a comparison of the lock's own key: docs/design/0079-fences.md.
 */
import { UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import type { Compare, EtcdClient, EtcdReply, KeyValue, Txn } from '../clients/etcd/client.ts';
import type { FencingToken } from '../contract/token.ts';
import { type Fence, type FenceEntry, fenced, fenceOf } from './fence.ts';
import { enteredSince, over, raised, type SeenToken, seenIn, textOf } from './rule.ts';

export interface EtcdFenceOptions {
  /** The prefix of the keys of all fences; default `holdfast-fence/`. */
  readonly prefix?: string;
}

/** The part of the client of `holdfast/etcd` that the fence uses. */
export type EtcdTransactions = Pick<EtcdClient, 'txn'>;

/**
 * `write` carries out a transaction if no other entry was made since. A reader's entry only reads,
 * without the comparison. After an unknown outcome, `enter` anew: no earlier request can take
 * effect after that.
 */
export interface EtcdEntry extends FenceEntry<Txn, EtcdReply> {
  /**
   * The comparison that each transaction that writes the guarded data needs, also through another
   * client. Empty for a reader, which keeps older writers out and writes nothing.
   */
  readonly check: readonly Compare[];
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
 *   await entry.write({ success: [{ put: { key: 'config', value } }] });
 * });
 *
 * @throws UsageError
 */
export function etcdFence(
  options: EtcdFenceOptions = {},
): Fence<EtcdTransactions, Promise<EtcdEntry>> {
  const { prefix = 'holdfast-fence/' } = readOptions(options, ['prefix'], 'etcdFence');
  if (typeof prefix !== 'string' || !prefix.isWellFormed() || prefix === '') {
    throw new UsageError(`prefix must be text that is not empty, not ${show(prefix)}.`);
  }
  return fenceOf(async (verb, etcd, lease) => {
    const token = fenced(lease);
    const key = prefix + token.resource;
    const range = { range: { key } };
    let [known] = kvsIn(await etcd.txn({ success: [range] }));
    for (;;) {
      const value = textOf(raised(verb, token, () => known && seenAt(known)));
      const unchanged: Compare = { key, target: 'mod', is: '=', to: known?.modRevision ?? 0n };
      const reply = await etcd.txn({
        compare: [unchanged],
        success: [{ put: { key, value } }],
        failure: [range],
      });
      // A comparison that is true until another entry is made.
      if (reply.succeeded) return entryOf(etcd, token, { ...unchanged, to: reply.revision });
      // Another holder has entered meanwhile.
      [known] = kvsIn(reply);
    }
  });
}

function entryOf(etcd: EtcdTransactions, token: FencingToken, unchanged: Compare): EtcdEntry {
  const check = token.kind === 'read' ? [] : [unchanged];
  const { key } = unchanged;
  return {
    check,
    async write(txn) {
      if (token.kind === 'read' && writes(txn)) throw new UsageError('A reader must not write.');
      // The caller's own comparisons choose its branch, so the fence's enclose them.
      const fenced: Txn = { compare: check, success: [{ txn }], failure: [{ range: { key } }] };
      const reply = await etcd.txn(fenced);
      const [answer] = reply.answers;
      if (reply.succeeded && answer && 'txn' in answer) return { ...reply, ...answer.txn };
      const [known] = kvsIn(reply);
      if (known) throw enteredSince(token, seenAt(known));
      throw over(token, 0n, 'The key of the fence was deleted.');
    },
  };
}

function writes({ success, failure = [] }: Txn): boolean {
  return [...success, ...failure].some(
    (one) => 'put' in one || 'delete' in one || ('txn' in one && writes(one.txn)),
  );
}

function kvsIn({ answers }: EtcdReply): readonly KeyValue[] {
  const [answer] = answers;
  return answer && 'range' in answer ? answer.range.kvs : [];
}

function seenAt({ key, value }: KeyValue): SeenToken {
  return seenIn(value, `The key ${show(key)}`);
}
