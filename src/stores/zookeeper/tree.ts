/**
 * Paths in ZooKeeper: a queue is `<root>/<name>`, a container that the server deletes when it has
 * been empty for a while. Beside the queues is `<root>/%`, which is no name: its data names the
 * lineage of tokens, its children are the tombstones of the evicted. Below `<root>/%kept`, no name
 * either, are the records of finished work, in folders, so that no list is long.
 */
import { nodeName } from './names.ts';

const FOLDERS = 256;

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
