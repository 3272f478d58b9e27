/** For people: the claims of a resource, and the claimed resources. */
import { resourceIn } from '../../../clients/zookeeper/paths.ts';
import type { Member, Queue } from '../../../contract/store.ts';
import { QueueView } from '../../consensus/queue-view.ts';
import type { ZookeeperParts } from '../own-claims.ts';
import { detailed, eachAsked, listQueue } from '../reading.ts';

export async function inspect(parts: ZookeeperParts, resource: string): Promise<Queue> {
  const kept = await parts.sessions.any();
  const path = parts.tree.queue(resource);
  const { places } = await listQueue(kept, path);
  const all = await detailed(kept, path, places);
  const { claims } = parts.own.queue(resource);
  const members = all.map(([{ kind, permits, id = '' }, details]): Member => {
    const { number, holder, lastsMs = 0, ttlMs = lastsMs } = details;
    // The life of another process's claim without heartbeats is known, but not its start.
    const leftMs = claims.get(id)?.leftMs(parts.clock.now()) ?? lastsMs;
    return { number, kind, permits, ttlMs, leftMs, holder };
  });
  // Claims that left during the reads are missing, so others may hold in their place.
  return new QueueView(all.map(([place]) => place)).shown(resource, members);
}

export async function* list(parts: ZookeeperParts, prefix: string): AsyncIterable<string> {
  const { sessions, tree } = parts;
  const { session, within } = await sessions.listing();
  const { children } = await session.getChildren(tree.root || '/', within);
  const resources = children.flatMap((name) => resourceIn(name) ?? []);
  const wanted = resources.filter((resource) => resource.startsWith(prefix)).sort();
  const asked = eachAsked(wanted, (resource) => session.exists(tree.queue(resource), within));
  for await (const [resource, stat] of asked) {
    // An empty queue stays for a while.
    if (stat && stat.numChildren > 0) yield resource;
  }
}
