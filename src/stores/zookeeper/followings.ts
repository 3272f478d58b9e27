import type { Follower } from '../../contract/store.ts';
import { Following, type FollowingParts } from './following.ts';

/** All who follow queues of a store. */
export class Followings {
  readonly #parts: FollowingParts;
  readonly #all = new Set<Following>();
  readonly #turns = new Map<string, Promise<void>>();

  constructor(parts: Omit<FollowingParts, 'inTurn'>) {
    this.#parts = { ...parts, inTurn: (path, work) => this.#inTurn(path, work) };
  }

  /** @throws StoreError */
  async add(resource: string, follower: Follower): Promise<AsyncDisposable> {
    const following = new Following(this.#parts, { resource, follower });
    this.#all.add(following);
    const end = async (): Promise<void> => {
      this.#all.delete(following);
      await following.end();
    };
    await following.start().catch(async (error: unknown) => {
      await end();
      throw error;
    });
    return { [Symbol.asyncDispose]: end };
  }

  close(): void {
    for (const following of this.#all) void following.end();
  }

  /** A session has one watch for all who follow a path: none may end while another begins. */
  #inTurn(path: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.#turns.get(path) ?? Promise.resolve()).then(work);
    const done = turn
      .catch(() => {})
      .then(() => {
        if (this.#turns.get(path) === done) this.#turns.delete(path);
      });
    this.#turns.set(path, done);
    return turn;
  }
}
