/** Queues, read from the server. */
import type { Kind, Takeover } from '../../contract/store.ts';
import type { Answer, EtcdClient, KeyValue, Operation, RangeAnswer } from './client.ts';
import type { KeySpace } from './keys.ts';
import { type Place, placeOf, QueueView, takeoverIn } from './queue.ts';

/** Enough of the oldest claims, and the note, to decide admission in nearly all cases. */
const FEW = 4;
const MANY = 33;

/** The range for a claim of this kind; without one, for everything. */
export function reading(keys: KeySpace, resource: string, kind?: Kind): Operation {
  const exclusive = kind === 'mutex' || kind === 'write';
  const limit = exclusive ? FEW : MANY;
  return { range: { ...keys.queue(resource), oldestFirst: true, ...(kind && { limit }) } };
}

/**
 * The reply to `reading`; undefined if it is not enough. In a long queue the note may be unknown,
 * and is then counted as a waiter.
 */
export function viewIn(
  answer: Answer | undefined,
  { keys, resource, kind }: { keys: KeySpace; resource: string; kind?: Kind | undefined },
): QueueView | undefined {
  const { kvs = [], count = 0 } = rangeIn(answer) ?? {};
  const noteKey = keys.note(resource);
  const places: Place[] = [];
  let ended: Takeover | undefined;
  for (const kv of kvs) {
    if (kv.key === noteKey) ended = takeoverIn(kv.value);
    else if (keys.isClaim(resource, kv.key)) places.push(placeOf(kv));
  }
  const others = kvs.length - places.length;
  if (others > 1 && count > kvs.length) return undefined;
  const view = new QueueView(places, count - others, ended);
  return kind === undefined || view.knows(kind) ? view : undefined;
}

export interface Read {
  readonly view: QueueView;
  readonly revision: bigint;
}

/** @throws StoreError */
export async function readQueue(
  client: EtcdClient,
  keys: KeySpace,
  resource: string,
): Promise<Read> {
  const { answers, revision } = await client.txn({ success: [reading(keys, resource)] });
  return { view: viewIn(answers[0], { keys, resource }) ?? new QueueView([], 0), revision };
}

export function rangeIn(answer: Answer | undefined): RangeAnswer | undefined {
  return answer && 'range' in answer ? answer.range : undefined;
}

export function firstIn(answer: Answer | undefined): KeyValue | undefined {
  return rangeIn(answer)?.kvs[0];
}
