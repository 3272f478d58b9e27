/** For people: the claims of a resource, and the claimed resources. */

import { resourceIn } from '../../../clients/zookeeper/paths.ts';
import type { Member, Queue } from '../../../contract/store.ts';
import { QueueView } from '../../consensus/queue-view.ts';
import type { Details, NodePlace } from '../places.ts';
import { detailed, listQueue } from '../reading.ts';
import type { ZookeeperParts } from './parts.ts';

/** Requests under way at a time. */
const AT_ONCE = 100;

export async function inspect(parts: ZookeeperParts, resource: string): Promise<Queue> {
  const kept = await parts.sessions.any();
  const path = parts.tree.queue(resource);
  const { places } = await listQueue(kept, path);
  const all = await detailed(kept, path, places);
  const members = all.map(([place, details]) => memberOf(parts, resource, { place, details }));
  // Claims that left during the reads are missing, so others may hold in their place.
  return new QueueView(all.map(([place]) => place)).shown(resource, members);
}

export async function* list(
  { sessions, tree }: ZookeeperParts,
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
  parts: ZookeeperParts,
  resource: string,
  { place, details }: { readonly place: NodePlace; readonly details: Details },
): Member {
  const { kind, permits, id = '' } = place;
  const { number, holder, lastsMs = 0, ttlMs = lastsMs } = details;
  const own = parts.own.queue(resource).claims.get(id);
  const leftMs = own ? own.leftMs(parts.clock.now()) : lastsMs;
  return { number, kind, permits, ttlMs, leftMs, holder };
}
