/** Queues that we share with the real Curator, and who comes to them, from both sides. */
import { downgrade, type Lease, type Locks } from 'holdfast';
import { expect } from 'vitest';
import { failedWith } from '../../../src/clients/zookeeper/errors.ts';
import { sleep, stand } from '../../methods/faults/bed.ts';
import type { ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import type { ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import type { CuratorKind } from './curator.ts';
import { Bed } from './fault-bed.ts';

export type Sides = { readonly server: ZookeeperServer; readonly curator: ForeignProgram };

/** Of a thread in Java, or of a program of ours with a session of its own. */
export type Wish = `${'ours' | 'java'} ${CuratorKind}`;

/** One who wants in. */
interface Party {
  readonly enter: () => Promise<unknown>;
  readonly leave: () => Promise<void>;
  readonly downgrade: () => Promise<unknown>;
}

/** Nobody else gets in while so much passes: far longer than a message takes. */
export const MOMENT_MS = 300;

/** Both sides of one queue. */
export class Both extends Bed {
  readonly name: string = 'lock';
  /** Its path, as Java has it. */
  readonly lock: string = `${this.path}/${this.name}`;
  readonly #sides: Sides;
  readonly #parties: Party[] = [];
  readonly #inside = new Set<number>();
  #observer: Locks | undefined;
  #trouble: unknown;

  constructor(sides: Sides) {
    super(sides.server);
    this.#sides = sides;
  }

  /** A program of ours. */
  ours(): Locks {
    return this.patientLocks(this.#sides.server);
  }

  /** One after the other comes; those who must wait do. */
  async lineUp(...wishes: readonly Wish[]): Promise<void> {
    for (const wish of wishes) {
      const [side, kind] = wish.split(' ') as ['ours' | 'java', CuratorKind];
      const party = side === 'ours' ? this.#ourParty(kind) : this.#javaParty(kind);
      const there = (await this.children()).length;
      const number = this.#parties.push(party) - 1;
      party.enter().then(
        () => this.#inside.add(number),
        (error) => {
          this.#trouble = error;
        },
      );
      await until(`did ${number} come`, async () => (await this.children()).length === there + 1);
    }
  }

  /** These are in, by the order in which they came, and nobody else gets in. */
  async expectInside(...numbers: readonly number[]): Promise<void> {
    await until(`were ${numbers} inside`, async () => {
      if (this.#trouble) throw this.#trouble;
      return numbers.every((n) => this.#inside.has(n));
    });
    await sleep(MOMENT_MS);
    expect([...this.#inside].sort((a, b) => a - b)).toEqual(numbers);
  }

  async goes(number: number): Promise<void> {
    this.#inside.delete(number);
    await this.#parties[number]?.leave();
  }

  /** A writer that is inside stays there as a reader. */
  async downgrade(number: number): Promise<void> {
    await this.#parties[number]?.downgrade();
  }

  /** So many hold and so many wait, as we see it. */
  async stand(holders: number, waiters: number): Promise<void> {
    this.#observer ??= this.ours();
    await stand(this.#observer, this.name, holders, waiters);
  }

  /** Adds one to the number that a node has, so many times, under the mutex alone. */
  async add({ node, times }: { readonly node: string; readonly times: number }): Promise<void> {
    const mutex = this.ours().mutex(this.name);
    for (let time = 0; time < times; time++) {
      const lease = await patiently(mutex);
      const { data } = await this.looking.getData(node);
      await this.looking.setData(node, Buffer.from(`${Number(data) + 1}`));
      await lease.release();
    }
  }

  /** Deletes the directory if it is there and empty. */
  async clear(): Promise<boolean> {
    try {
      await this.looking.delete(this.lock);
      return true;
    } catch (error) {
      if (failedWith(error, 'NOTEMPTY') || failedWith(error, 'NONODE')) return false;
      throw error;
    }
  }

  async children(): Promise<readonly string[]> {
    if ((await this.looking.exists(this.lock)) === undefined) return [];
    return (await this.looking.getChildren(this.lock)).children;
  }

  #ourParty(kind: CuratorKind): Party {
    const locks = this.ours();
    const lock = kind === 'mutex' ? locks.mutex(this.name) : locks.rwLock(this.name)[kind];
    let lease: Lease | undefined;
    return {
      enter: async () => {
        lease = await patiently(lock);
      },
      leave: async () => lease?.release(),
      downgrade: async () => lease && downgrade(lease),
    };
  }

  #javaParty(first: CuratorKind): Party {
    const { lock: path } = this;
    const thread = this.#sides.curator.thread();
    let kind = first;
    return {
      enter: () => thread.acquire(kind, path),
      leave: () => thread.release(kind, path),
      downgrade: async () => {
        kind = 'read';
        await thread.ask('downgrade', path);
      },
    };
  }
}
