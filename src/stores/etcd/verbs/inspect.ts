/** For people: the claims of a resource, and the claimed resources. */
import type { Member, Queue } from '../../../contract/store.ts';
import type { EtcdParts } from '../own-claims.ts';
import { rangeIn, readQueue } from '../reading.ts';

const PAGE = 1000;

export async function inspect(parts: EtcdParts, resource: string): Promise<Queue> {
  const view = await readQueue(parts, resource);
  const leases = [...new Set(view.places.map(({ lease }) => lease))];
  const lives = new Map(
    await Promise.all(
      leases.map(async (lease) => [lease, await parts.client.timeToLive(lease)] as const),
    ),
  );
  const members = view.places.map((place): Member => {
    const leftMs = Math.max(0, lives.get(place.lease) ?? 0);
    const { number, kind, permits, holder, ttlMs = leftMs, lastsMs = leftMs } = place;
    return { number, kind, permits, ttlMs, leftMs: Math.min(lastsMs, leftMs), holder };
  });
  return view.shown(resource, members);
}

export async function* list({ client, keys }: EtcdParts, prefix: string): AsyncIterable<string> {
  let { key, end } = keys.beginning(prefix);
  let last: string | undefined;
  for (let full = true; full; ) {
    const range = { key, end, limit: PAGE, keysOnly: true };
    const { answers } = await client.txn({ success: [{ range }] });
    const { kvs = [] } = rangeIn(answers[0]) ?? {};
    for (const kv of kvs) {
      const resource = keys.resourceOf(kv.key);
      if (resource !== undefined && resource !== last) yield resource;
      last = resource ?? last;
    }
    full = kvs.length === PAGE;
    // Right after the last one.
    key = `${kvs.at(-1)?.key ?? ''}\0`;
  }
}
