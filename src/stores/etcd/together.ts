/** Several transactions in one request. */
import type { EtcdClient, Operation, Txn, TxnAnswer } from '../../clients/etcd/client.ts';

export interface TogetherReply {
  readonly revision: bigint;
  /** One for each transaction. */
  readonly outcomes: readonly TxnAnswer[];
}

/** @throws StoreError */
export async function sendTogether(
  client: EtcdClient,
  txns: readonly Txn[],
): Promise<TogetherReply> {
  const [only] = txns;
  if (only && txns.length === 1) {
    const reply = await client.txn(only);
    return { revision: reply.revision, outcomes: [reply] };
  }
  const all = { success: txns.map((txn) => bareIn(txn) ?? { txn }) };
  const { revision, answers } = await client.txn(all);
  const outcomes = answers.map((answer) => {
    return 'txn' in answer ? answer.txn : { succeeded: true, answers: [answer] };
  });
  return { revision, outcomes };
}

/** As one transaction: all conditions have to hold, or nothing is done. @throws StoreError */
export async function sendAsOne(client: EtcdClient, txns: readonly Txn[]): Promise<TogetherReply> {
  const compare = txns.flatMap((txn) => txn.compare ?? []);
  const success = txns.map((txn): Operation => ({ txn: { success: txn.success } }));
  const { revision, succeeded, answers } = await client.txn({ compare, success });
  const outcomes = txns.map((_, i) => {
    const answer = answers[i];
    return { succeeded, answers: answer && 'txn' in answer ? answer.txn.answers : [] };
  });
  return { revision, outcomes };
}

/** A lone operation without a condition needs no transaction. */
function bareIn({ compare, success, failure }: Txn): Operation | undefined {
  return compare || failure || success.length !== 1 ? undefined : success[0];
}

/**
 * Parts, one after another, in which no resource comes twice: all writes of one transaction have
 * one revision, so two of its claims would have no order.
 */
export function waves<T>(items: readonly T[], resourceOf: (item: T) => string): T[][] {
  const parts: T[][] = [];
  const counts = new Map<string, number>();
  for (const item of items) {
    const resource = resourceOf(item);
    const wave = counts.get(resource) ?? 0;
    counts.set(resource, wave + 1);
    const part = parts[wave] ?? [];
    if (part.push(item) === 1) parts.push(part);
  }
  return parts;
}
