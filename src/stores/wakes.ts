/**
 * The claims of this process that want to be woken.
 *
 * One subscription serves them all: the server addresses a message to the process and names the
 * claim by a tag, which is public, unlike its id. A message is a hint and may be lost; after an
 * interruption all claims are woken, and ask. The claims of a process that cannot listen have no
 * address, since the server would not take messages to it either, and ask by themselves.
 */
import { randomId } from '../base/random-id.ts';
import { type Ear, isLasting } from '../clients/wire.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Claim, Wake } from '../contract/store.ts';
import { statusIn } from './status-lines.ts';
import { Subscription } from './subscription.ts';

const DONE = Promise.resolve();

/** The pause before the next try to listen, in ms: after a passing or a lasting failure. */
const PAUSE_MS = { passing: 1000, lasting: 60_000 };

export class Wakes {
  /** Names this process; its channel's name ends in it. */
  readonly address: string = randomId().slice(0, 16);
  readonly #ear: Ear;
  readonly #channel: string;
  readonly #refused: (error: StoreError) => void;
  readonly #wakes = new Map<string, Wake>();
  readonly #tags = new Map<string, string>();
  #listening: Promise<void> | undefined;
  #restUntil = 0;
  #deaf = false;
  #count = 0;

  /** `refused` gets errors that will not pass by themselves. */
  constructor(ear: Ear, prefix: string, refused: (error: StoreError) => void = () => {}) {
    this.#ear = ear;
    this.#channel = `${prefix}${this.address}`;
    this.#refused = refused;
  }

  /** The address for messages about this claim, and its tag in them. */
  tagOf({ id }: Claim): string {
    const tag = this.#deaf ? undefined : this.#tags.get(id);
    return tag === undefined ? '- -' : `${this.address} ${tag}`;
  }

  /** Resolves when no message can be missed, or when listening is impossible for now. */
  watch({ id }: Claim, wake: Wake): Promise<AsyncDisposable> {
    const tag = (++this.#count).toString(36);
    this.#wakes.set(tag, wake);
    this.#tags.set(id, tag);
    const watching = new Subscription(() => {
      this.#wakes.delete(tag);
      if (this.#tags.get(id) === tag) this.#tags.delete(id);
    });
    return this.#listen().then(() => watching);
  }

  #listen(): Promise<void> {
    if (performance.now() < this.#restUntil) return DONE;
    this.#listening ??= this.#ear
      .listen(this.#channel, this.#received, this.#resumed)
      .then(this.#heard, this.#failed);
    return this.#listening;
  }

  readonly #heard = (): void => {
    this.#deaf = false;
  };

  /** A later claim tries again; until then the heartbeats bring the news. */
  readonly #failed = (error: unknown): void => {
    this.#listening = undefined;
    this.#deaf = isLasting(error);
    this.#restUntil = performance.now() + PAUSE_MS[this.#deaf ? 'lasting' : 'passing'];
    if (this.#deaf) this.#refused(error as StoreError);
  };

  readonly #received = (message: string): void => {
    for (const line of message.split('\n')) {
      const space = line.indexOf(' ');
      const wake = this.#wakes.get(line.slice(0, space));
      const news = line.slice(space + 1);
      wake?.(news === '?' ? undefined : statusIn(news));
    }
  };

  readonly #resumed = (): void => {
    for (const wake of [...this.#wakes.values()]) wake();
  };
}
