/** Queues, read from the server. */

import type {
  Answer,
  EtcdClient,
  KeyValue,
  Operation,
  RangeAnswer,
} from '../../clients/etcd/client.ts';
import type { Kind, Takeover } from '../../contract/store.ts';
import { QueueView } from '../consensus/queue-view.ts';
import type { KeySpace } from './layout.ts';
import { type Place, placeOf, takeoverIn, type View } from './places.ts';

/** Enough of the oldest claims, and the note, to decide admission in nearly all cases. */
const FEW = 5;
const MANY = 34;

/** The range for a claim of this kind; without one, for everything. */
export function reading(keys: KeySpace, resource: string, kind?: Kind): Operation {
  const limit = isExclusive(kind) ? FEW : MANY;
  return { range: { ...keys.queue(resource), oldestFirst: true, ...(kind && { limit }) } };
}

/**
 * The reply to `reading`; undefined if it is not enough. In a long queue the note may be unknown,
 * and is then counted as a waiter.
 */
export function viewIn(
  answer: Answer | undefined,
  { keys, resource, kind }: { keys: KeySpace; resource: string; kind?: Kind | undefined },
): View | undefined {
  const { kvs = [], count = 0 } = rangeIn(answer) ?? {};
  const noteKey = keys.note(resource);
  const places: Place[] = [];
  let note: Takeover | undefined;
  for (const kv of kvs) {
    if (kv.key === noteKey) note = takeoverIn(kv.value);
    else if (keys.isClaim(resource, kv.key)) places.push(placeOf(kv));
  }
  const others = kvs.length - places.length;
  if (others > 1 && count > kvs.length) return undefined;
  const view = viewOf(places, count - others, note);
  return kind === undefined || isEnough(view, kind) ? view : undefined;
}

/** Locks of etcd stand in any queue, so they say nothing of its kind. */
export function viewOf(places: readonly Place[], total: number, note?: Takeover): View {
  const kind = places.find(({ foreign }) => !foreign)?.kind;
  return new QueueView(places, { total, kind, note });
}

/** To decide whether a claim of this kind is admitted. */
function isEnough({ places, total, admitted }: View, kind: Kind): boolean {
  return places.length === total || isExclusive(kind) || admitted < places.length;
}

export function isExclusive(kind: Kind | undefined): boolean {
  return kind === 'mutex' || kind === 'write';
}

export interface Read {
  readonly view: View;
  readonly revision: bigint;
}

/** @throws StoreError */
export async function readQueue(
  client: EtcdClient,
  keys: KeySpace,
  resource: string,
): Promise<Read> {
  const { answers, revision } = await client.txn({ success: [reading(keys, resource)] });
  return { view: viewIn(answers[0], { keys, resource }) ?? viewOf([], 0), revision };
}

export function rangeIn(answer: Answer | undefined): RangeAnswer | undefined {
  return answer && 'range' in answer ? answer.range : undefined;
}

export function firstIn(answer: Answer | undefined): KeyValue | undefined {
  return rangeIn(answer)?.kvs[0];
}
