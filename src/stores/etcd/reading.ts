/** Queues as the server tells them, now. */
import type { Kind, Takeover } from '../../store.ts';
import type { Answer, EtcdClient, KeyValue, Operation, RangeAnswer } from './client.ts';
import type { KeySpace } from './keys.ts';
import { placeOf, QueueView, takeoverIn } from './queue.ts';

/** Enough of the oldest claims to know whether one has it, in all but odd cases. */
const FEW = 3;
const MANY = 32;

/** What to ask for a claim of this kind; without one, for everything. */
export function reading(keys: KeySpace, resource: string, kind?: Kind): readonly Operation[] {
  const exclusive = kind === 'mutex' || kind === 'write';
  const limit = exclusive ? FEW : MANY;
  return [
    { range: { ...keys.claims(resource), oldestFirst: true, ...(kind && { limit }) } },
    { range: { key: keys.note(resource) } },
  ];
}

/** The answers to `reading`; undefined if they are not enough. */
export function viewIn(
  answers: readonly Answer[],
  { keys, resource, kind }: { keys: KeySpace; resource: string; kind?: Kind | undefined },
): QueueView | undefined {
  const [claims, note] = answers.map(rangeIn);
  const { kvs = [], count = 0 } = claims ?? {};
  const places = kvs.filter(({ key }) => keys.isClaim(resource, key)).map(placeOf);
  const strangers = kvs.length - places.length;
  if (strangers > 0 && count > kvs.length) return undefined;
  const ended = endedIn(note);
  const view = new QueueView(places, count - strangers, ended);
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
  const { answers, revision } = await client.txn({ success: reading(keys, resource) });
  return { view: viewIn(answers, { keys, resource }) ?? new QueueView([], 0), revision };
}

export function rangeIn(answer: Answer | undefined): RangeAnswer | undefined {
  return answer && 'range' in answer ? answer.range : undefined;
}

export function firstIn(answer: Answer | undefined): KeyValue | undefined {
  return rangeIn(answer)?.kvs[0];
}

function endedIn(note: RangeAnswer | undefined): Takeover | undefined {
  const [kv] = note?.kvs ?? [];
  return kv && takeoverIn(kv.value);
}
