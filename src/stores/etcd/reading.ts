/** Queues, read from the server. */
import type { Soon } from '../../base/answer.ts';
import type {
  KeyValue,
  Operation,
  OperationAnswer,
  RangeAnswer,
} from '../../clients/etcd/client.ts';
import type { Kind, Takeover } from '../../contract/store.ts';
import { QueueView } from '../consensus/queue-view.ts';
import type { EtcdContext, KeySpace } from './layout.ts';
import { type EtcdPlace, type EtcdView, placeOf, takeoverIn } from './places.ts';

/** Enough of the oldest claims, and the note, to decide admission in nearly all cases. */
const FEW = 5;
const MANY = 34;

/** The range for a claim of this kind; without one, for everything. */
export function reading(keys: KeySpace, resource: string, kind?: Kind): Operation {
  const limit = isExclusive(kind) ? FEW : MANY;
  return { range: { ...keys.queue(resource), oldestFirst: true, ...(kind && { limit }) } };
}

/** The queue for a claim of this kind: by the answer to `reading`, or else read now. */
export function queueIn(
  context: EtcdContext,
  answer: OperationAnswer | undefined,
  at: { readonly resource: string; readonly kind?: Kind | undefined },
): Soon<EtcdView> {
  const known = answer && viewIn(answer, { keys: context.keys, ...at });
  return known ?? readQueue(context, at.resource);
}

/** Undefined if the answer is not enough. A note that it does not show counts as a waiter. */
function viewIn(
  answer: OperationAnswer | undefined,
  { keys, resource, kind }: { keys: KeySpace; resource: string; kind?: Kind | undefined },
): EtcdView | undefined {
  const { kvs = [], count = 0 } = rangeIn(answer) ?? {};
  const noteKey = keys.note(resource);
  const places: EtcdPlace[] = [];
  let note: Takeover | undefined;
  for (const kv of kvs) {
    if (kv.key === noteKey) note = takeoverIn(kv.value);
    else if (keys.isClaim(resource, kv.key)) places.push(placeOf(kv));
  }
  const others = kvs.length - places.length;
  if (others > 1 && count > kvs.length) return undefined;
  const view = viewOf(places, count - others, note);
  // A mutex or a writer is admitted only as the first.
  const sure = kind === undefined || isExclusive(kind) || places.length === view.total;
  return sure || view.admitted < places.length ? view : undefined;
}

/** Locks of etcd stand in any queue, so they say nothing of its kind. */
export function viewOf(places: readonly EtcdPlace[], total: number, note?: Takeover): EtcdView {
  const kind = places.find(({ foreign }) => !foreign)?.kind;
  return new QueueView(places, { total, kind, note });
}

export function isExclusive(kind: Kind | undefined): boolean {
  return kind === 'mutex' || kind === 'write';
}

export async function readQueue(
  { client, keys }: EtcdContext,
  resource: string,
): Promise<EtcdView> {
  const { answers } = await client.txn({ success: [reading(keys, resource)] });
  return viewIn(answers[0], { keys, resource }) ?? viewOf([], 0);
}

export function rangeIn(answer: OperationAnswer | undefined): RangeAnswer | undefined {
  return answer && 'range' in answer ? answer.range : undefined;
}

export function firstIn(answer: OperationAnswer | undefined): KeyValue | undefined {
  return rangeIn(answer)?.kvs[0];
}
