/** Several transactions in one request. */
import type { Operation, OperationAnswer, Txn } from '../../clients/etcd/client.ts';

export interface TxnOutcome {
  readonly succeeded: boolean;
  readonly answers: readonly OperationAnswer[];
}

/** One alone stays as it is; a lone operation without a condition needs no transaction. */
export function together(txns: readonly Txn[]): Txn {
  const [only] = txns;
  if (only && txns.length === 1) return only;
  return { success: txns.map((txn) => bareIn(txn) ?? { txn }) };
}

function bareIn({ compare, success, failure }: Txn): Operation | undefined {
  return compare || failure || success.length !== 1 ? undefined : success[0];
}

/** The outcomes of this many sent together. */
export function apart(reply: TxnOutcome, count: number): readonly TxnOutcome[] {
  if (count === 1) return [reply];
  return reply.answers.map((answer) => {
    return 'txn' in answer ? answer.txn : { succeeded: true, answers: [answer] };
  });
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
