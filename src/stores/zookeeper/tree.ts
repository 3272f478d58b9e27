/**
 * Where things are in ZooKeeper: a queue is `<root>/<name>`, a container that the server deletes
 * when it has been empty for a while. Beside the queues is `<root>/%`, which is no name: its data
 * names the lineage of tokens, its children are the tombstones of the evicted.
 */
import { nodeName } from './names.ts';

export class Tree {
  readonly root: string;

  /** `root` is a path without a slash at its end, or nothing. */
  constructor(root: string) {
    this.root = root;
  }

  get lineage(): string {
    return `${this.root}/%`;
  }

  queue(resource: string): string {
    return `${this.root}/${nodeName(resource)}`;
  }

  grave(uuid: string): string {
    return `${this.root}/%/${uuid}`;
  }

  /** The root and all above it, from the top. */
  get folders(): readonly string[] {
    const names = this.root.split('/').slice(1);
    return names.map((_, i) => `/${names.slice(0, i + 1).join('/')}`);
  }
}
