/**
 * Paths in ZooKeeper: a queue is `<root>/<name>`, a container that the server deletes when it has
 * been empty for a while. Beside the queues is `<root>/%`, which is no name: its data names the
 * lineage of tokens, its children are the tombstones of evicted claims. The records of finished
 * work are below `<root>/%kept`, no name either, in folders, so that no list is long.
 */
import { randomBytes } from 'node:crypto';
import { unlessMissing, unlessThere } from '../../clients/zookeeper/errors.ts';
import { nodeName } from '../../clients/zookeeper/paths.ts';
import type {
  Making,
  Within,
  ZookeeperSession,
} from '../../clients/zookeeper/zookeeper-session.ts';
import { permanentFailure } from '../../contract/errors.ts';

/** Where the queues are, below the chroot, unless the options say otherwise. */
export const PATH = '/holdfast';

const NO_CHROOT = 'The chroot of the ZooKeeper address does not exist. Create it, or leave it out.';
const FOLDERS = 256;

/**
 * Below the node of an `InterProcessSemaphoreV2` are a queue of one mutex, which all who want its
 * permits pass, and one of permits. These are their resources.
 */
const GATE = 'locks/';

export function gateOf(name: string): string {
  return GATE + name;
}

export function leasesOf(name: string): string {
  return `leases/${name}`;
}

/** Whose nodes the claims have, of the recipes of Curator (places.ts). */
export type Recipe = 'locks' | 'latch' | 'semaphore';

export class Tree {
  readonly root: string;
  readonly recipe: Recipe;

  /** `root` is a path without a slash at its end, or nothing. */
  constructor(root: string, recipe: Recipe = 'locks') {
    this.root = root;
    this.recipe = recipe;
  }

  get lineage(): string {
    return `${this.root}/%`;
  }

  queue(resource: string): string {
    return this.containers(resource).at(-1) as string;
  }

  /** The containers that must exist before a claim, from the top; the last is its queue. */
  containers(resource: string): readonly string[] {
    if (this.recipe !== 'semaphore') return [`${this.root}/${nodeName(resource)}`];
    const slash = resource.indexOf('/');
    const folder = `${this.root}/${nodeName(resource.slice(slash + 1))}`;
    return [folder, `${folder}/${resource.slice(0, slash)}`];
  }

  /** Whether `maxWaiters` counts its waiting claims; those of a semaphore wait at its gate. */
  isBounded(resource: string): boolean {
    return this.recipe !== 'semaphore' || resource.startsWith(GATE);
  }

  tombstone(uuid: string): string {
    return `${this.root}/%/${uuid}`;
  }

  get records(): string {
    return `${this.root}/%kept`;
  }

  /** The folder of this record and some others. */
  recordsBeside(resource: string): string {
    let sum = 0;
    for (let i = 0; i < resource.length; i++) sum = (31 * sum + resource.charCodeAt(i)) % FOLDERS;
    return `${this.records}/${sum}`;
  }

  record(resource: string): string {
    return `${this.recordsBeside(resource)}/${nodeName(resource)}`;
  }

  /** The root and all above it, from the top. */
  get folders(): readonly string[] {
    const names = this.root.split('/').slice(1);
    return names.map((_, i) => `/${names.slice(0, i + 1).join('/')}`);
  }
}

/**
 * Where the tokens of these servers come from: a name that is lost with their data. The first
 * client makes it, with the root, and it never changes.
 */
export async function lineageOf(
  session: ZookeeperSession,
  tree: Tree,
  within: Within,
): Promise<string> {
  for (;;) {
    const known = await session.getData(tree.lineage, within).catch(unlessMissing);
    if (known) return `zookeeper:${known.data.toString()}`;
    if ((await session.exists('/', within)) === undefined) throw permanentFailure(NO_CHROOT);
    const data = Buffer.from(randomBytes(8).toString('hex'));
    for (const path of tree.folders) await ensure(session, path, within);
    await ensure(session, tree.lineage, { data, ...within });
  }
}

/** Makes a node unless it is there. */
export async function ensure(
  session: ZookeeperSession,
  path: string,
  making: Making,
): Promise<void> {
  // Without the right to create, a client gets NOAUTH even if the node exists.
  if (await session.exists(path, { timeoutMs: making.timeoutMs })) return;
  await session.create(path, making).catch(unlessThere);
}
