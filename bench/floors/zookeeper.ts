/**
 * Floors: the fewest requests that do the work, with nothing around them, by the same client.
 *
 * A task makes an ephemeral sequential node of its own below the resource, and holds when no other
 * has a smaller number. Uncontended, it makes it and looks at once, and deletes it. Contended,
 * a task that is not the first watches the node just before its own, and holds as soon as that is
 * gone: the task that deleted it has held. None looks whether its own node is still there, or how
 * the hold before ended. One session lasts for all.
 */
import { basename } from 'node:path';
import { type ZookeeperSession, zookeeperClient } from 'holdfast/zookeeper';
import { type Acquire, type Connect, type Connected, TTL_MS } from '../measuring/subject.ts';

const ROOT = '/floor';

async function floor(url: string): Promise<Connected> {
  const session = zookeeperClient(url).start(TTL_MS);
  const folders = new Map<string, Promise<void>>();
  await made(session, ROOT);
  return {
    task: (resource): Acquire => {
      const folder = `${ROOT}/${encodeURIComponent(resource)}`;
      const ready = folders.get(folder) ?? made(session, folder);
      folders.set(folder, ready);
      return async () => {
        await ready;
        const path = await take(session, folder);
        return () => session.delete(path);
      };
    },
    close: () => session.close(),
  };
}

/** The look does not wait for the node. */
async function take(session: ZookeeperSession, folder: string): Promise<string> {
  const created = session.create(`${folder}/n-`, { kind: 'ephemeral-sequential' });
  const [{ path }, { children }] = await Promise.all([created, session.getChildren(folder)]);
  // Their names differ by their numbers alone, which all have ten digits.
  const own = basename(path);
  const before = children.filter((name) => name < own).sort();
  if (before.length > 0) await gone(session, `${folder}/${before.at(-1)}`);
  return path;
}

/** A read of what is gone is refused, and leaves no watch behind. */
function gone(session: ZookeeperSession, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    session.getData(path, { watch: () => resolve() }).catch((error: unknown) => {
      if (refusedAs('NONODE', error)) resolve();
      else reject(error);
    });
  });
}

/** Another process may have made it. */
async function made(session: ZookeeperSession, path: string): Promise<void> {
  await session.create(path).catch((error: unknown) => {
    if (!refusedAs('NODEEXISTS', error)) throw error;
  });
}

function refusedAs(reason: string, error: unknown): boolean {
  return (error as { readonly reason?: string }).reason === reason;
}

export const WATCH_FLOOR = 'floor: watch the one before';

export const floors: Readonly<Record<string, Connect>> = {
  'floor: create and look, delete': floor,
  [WATCH_FLOOR]: floor,
};
