/**
 * Where an `InterProcessSemaphoreV2` has its nodes: below the node of its name are a queue of one
 * mutex, `locks`, and one of permits, `leases`.
 */
import { nodeName } from '../../../clients/zookeeper/paths.ts';
import { Tree } from '../layout.ts';

const GATE = 'locks/';
const LEASES = 'leases/';

/** The resource of the mutex that all who want permits of this semaphore pass. */
export function gateOf(name: string): string {
  return GATE + name;
}

export function leasesOf(name: string): string {
  return LEASES + name;
}

export class SemaphoreTree extends Tree {
  constructor(root: string) {
    super(root, 'semaphore');
  }

  override queue(resource: string): string {
    const [part = ''] = resource.split('/', 1);
    return `${this.#folder(resource)}/${part}`;
  }

  override containers(resource: string): readonly string[] {
    return [this.#folder(resource), this.queue(resource)];
  }

  /** All but the first wait at the gate. */
  override isBounded(resource: string): boolean {
    return resource.startsWith(GATE);
  }

  #folder(resource: string): string {
    return `${this.root}/${nodeName(resource.slice(resource.indexOf('/') + 1))}`;
  }
}
