/** For people: the claims of a resource, and the claimed resources. */
import { limitOf } from '../../contract/admission.ts';
import type { Member, Queue } from '../../contract/store.ts';
import type { Details } from './data.ts';
import { detailed, listQueue } from './listing.ts';
import { resourceIn } from './names.ts';
import type { Place } from './nodes.ts';
import type { Parts } from './parts.ts';
import { QueueView } from './queue.ts';

/** Requests under way at a time. */
const AT_ONCE = 100;

export async function inspect(parts: Parts, resource: string): Promise<Queue> {
  const kept = await parts.sessions.any();
  const path = parts.tree.queue(resource);
  const { places } = await listQueue(kept, path);
  const all = await detailed(kept, path, places);
  const members = all.map(([place, details]) => memberOf(parts, resource, { place, details }));
  // Claims that left during the reads are missing, so others may hold in their place.
  const there = all.map(([place]) => place);
  const { admitted } = new QueueView(there);
  return {
    resource,
    limit: members.length > 0 ? limitOf(there) : undefined,
    holders: members.slice(0, admitted),
    waiters: members.slice(admitted),
  };
}

export async function* list(
  { sessions, tree }: Parts,
  prefix: string,
): AsyncGenerator<string, void, void> {
  const { session, within } = await sessions.listing();
  const { children } = await session.getChildren(tree.root || '/', within);
  const resources = children.flatMap((name) => resourceIn(name) ?? []);
  const wanted = resources.filter((resource) => resource.startsWith(prefix)).sort();
  for (let i = 0; i < wanted.length; i += AT_ONCE) {
    const some = wanted.slice(i, i + AT_ONCE);
    const stats = some.map((resource) => session.exists(tree.queue(resource), within));
    for (const [n, stat] of (await Promise.all(stats)).entries()) {
      // An empty queue stays for a while.
      if (stat && stat.numChildren > 0) yield some[n] as string;
    }
  }
}

/** The life of another process's claim without heartbeats is known, but not its start. */
function memberOf(
  parts: Parts,
  resource: string,
  { place, details }: { readonly place: Place; readonly details: Details },
): Member {
  const { kind, permits, uuid } = place;
  const { number, holder, lastsMs = 0, ttlMs = lastsMs } = details;
  const own = parts.own.queue(resource).claims.get(uuid ?? '');
  const leftMs = own ? own.leftMs(parts.clock.now()) : lastsMs;
  return { number, kind, permits, ttlMs, leftMs, holder };
}
