/** Several transactions in one request. */
import { Answer } from '../../base/answer.ts';
import type { EtcdClient, Operation, Txn, TxnAnswer } from '../../clients/etcd/client.ts';
import type { Claim } from '../../contract/store.ts';
import { grouped } from '../batch.ts';

export interface TogetherReply {
  readonly revision: bigint;
  /** One for each transaction. */
  readonly outcomes: readonly TxnAnswer[];
}

export function sendTogether(client: EtcdClient, txns: readonly Txn[]): Answer<TogetherReply> {
  const [only] = txns;
  const one = only !== undefined && txns.length === 1;
  const all = one ? only : { success: txns.map((txn) => bareIn(txn) ?? { txn }) };
  return Answer.from(client.txn(all)).map((reply): TogetherReply => {
    const { revision, answers } = reply;
    if (one) return { revision, outcomes: [reply] };
    const outcomes = answers.map((answer) => {
      return 'txn' in answer ? answer.txn : { succeeded: true, answers: [answer] };
    });
    return { revision, outcomes };
  });
}

/** As one transaction: unless all conditions hold, each only fails. */
export function sendAsOne(client: EtcdClient, txns: readonly Txn[]): Answer<TogetherReply> {
  const compare = txns.flatMap((txn) => txn.compare ?? []);
  const all = (part: 'success' | 'failure'): Operation[] =>
    txns.map((txn) => ({ txn: { success: txn[part] ?? [] } }));
  const asked = client.txn({ compare, success: all('success'), failure: all('failure') });
  return Answer.from(asked).map(({ revision, succeeded, answers }): TogetherReply => {
    const outcomes = answers.map((answer) => {
      return { succeeded, answers: 'txn' in answer ? answer.txn.answers : [] };
    });
    return { revision, outcomes };
  });
}

/** A lone operation without a condition needs no transaction. */
function bareIn({ compare, success, failure }: Txn): Operation | undefined {
  return compare || failure || success.length !== 1 ? undefined : success[0];
}

/**
 * A reply for each claim, by a step for each part, one after another. No resource comes twice in a
 * part: all writes of one transaction have one revision, so two of its claims would have no order.
 */
export function inWaves<T>(
  claims: readonly Claim[],
  step: (wave: readonly Claim[]) => Answer<readonly T[]>,
): Answer<T[]> {
  const counts = new Map<string, number>();
  const waves = grouped([...claims.entries()], ([, { resource }]) => {
    const wave = counts.get(resource) ?? 0;
    counts.set(resource, wave + 1);
    return wave;
  });
  const replies: T[] = [];
  let asked = Answer.of<unknown>(() => undefined);
  for (const wave of waves.values()) {
    const next = (): Answer<unknown> =>
      step(wave.map(([, claim]) => claim)).map((some) => {
        for (const [n, [nth]] of wave.entries()) replies[nth] = some[n] as T;
      });
    asked = asked.chain(next);
  }
  return asked.map(() => replies);
}
