/**
 * A store behind a network that chance rules: requests and replies are delayed, overtake each
 * other, are lost, sent twice, arrive after the caller has stopped waiting, or end in an error that
 * says truly whether they may have happened. Hints are late or lost. The store itself is real.
 *
 * Invariant: nothing happens that the contract does not allow. A copy arrives late only where the
 * request got no reply, as a client sends again only then; a reply comes after the work of all
 * copies. Subscriptions share one connection and get their replies in turn, or else claims that
 * wait for them would come in any order. `lineage` is that of the message last received, for a
 * program knows no better. With a clock whose chance is seeded, each run takes the same course.
 * What would break it: an error that says `failed` of a request that arrives later.
 */
import { type Clock, sleep } from '../base/clock.ts';
import { isError } from '../base/errors.ts';
import { StoreError } from '../contract/errors.ts';
import type { Store, Subscribed, Wake } from '../contract/store.ts';
import { aroundStore, type Verb } from './around-store.ts';
import { type Journey, undergo } from './journey.ts';

/** From least to most, in whole ms. */
export type Range = readonly [number, number];

/** How bad the network is. Shares are from 0 to 1, of all requests unless said otherwise. */
export interface Weather {
  /** Each way takes this long; default 0 to 10 ms. */
  readonly delayMs: Range;
  /** How many are late instead, there or back; default 0.03. */
  readonly late: number;
  /** How late; default 100 ms to 5 s. Core waits for a reply for a third of the TTL. */
  readonly lateMs: Range;
  /** Requests that never arrive; default 0.03. */
  readonly loseRequest: number;
  /** Replies that never arrive although the store did the work; default 0.03. */
  readonly loseAnswer: number;
  /**
   * How many of the lost ones end in an error with an unknown outcome, as of a broken connection,
   * instead of in silence; default 0.5.
   */
  readonly broken: number;
  /** Requests refused before they leave, with the outcome `failed`; default 0.02. */
  readonly refuse: number;
  /** Requests that arrive twice; default 0.05. */
  readonly duplicate: number;
  /** Hints that never arrive; default 0.1. */
  readonly loseHint: number;
  /** Hints that come late, by `lateMs`; default 0.1. */
  readonly lateHint: number;
}

export interface ChaosOptions extends Partial<Weather> {
  /** The source of time, and of randomness. */
  readonly clock: Clock;
  /** Called for each mishap when chance decides on it. */
  readonly notice?: (mishap: Mishap) => void;
}

export type Mishap =
  | 'late'
  | 'request lost'
  | 'answer lost'
  | 'refused'
  | 'copied'
  | 'hint lost'
  | 'hint late';

export interface ChaosStore extends Store {
  /** Changes the weather for all messages sent from now on. */
  change(weather: Partial<Weather>): void;
}

/**
 * Weather in which every request soon gets a true reply; there are still delays, reordering, copies
 * and late hints. For callers that do not retry as core does, such as the conformance suite.
 */
export const answered: Partial<Weather> = {
  late: 0,
  loseRequest: 0,
  loseAnswer: 0,
  refuse: 0,
  loseHint: 0,
};

const USUAL: Weather = {
  delayMs: [0, 10],
  late: 0.03,
  lateMs: [100, 5_000],
  loseRequest: 0.03,
  loseAnswer: 0.03,
  broken: 0.5,
  refuse: 0.02,
  duplicate: 0.05,
  loseHint: 0.1,
  lateHint: 0.1,
};

/**
 * Puts a network between core and a store.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { memoryStore } from 'holdfast/memory';
 * import { chaosStore, simulatedClock } from 'holdfast/testkit';
 *
 * const clock = simulatedClock(42);
 * const locks = createLocks(chaosStore(memoryStore({ clock }), { clock }), { clock });
 */
export function chaosStore(store: Store, options: ChaosOptions): ChaosStore {
  const { clock, notice = () => {}, ...given } = options;
  let weather: Weather = { ...USUAL, ...given };
  let { lineage } = store;
  // When the last subscription gets its reply.
  let subscribedAt = 0;

  const chance = (share: number): boolean => share > 0 && clock.random() < share;
  const happens = (share: number, mishap: Mishap): boolean => {
    const so = chance(share);
    if (so) notice(mishap);
    return so;
  };
  const between = ([least, most]: Range): number =>
    least + Math.floor(clock.random() * (most - least + 1));

  function journeyOf(repeatable: boolean): Journey {
    const { delayMs, late, lateMs, loseRequest, loseAnswer, refuse, duplicate, broken } = weather;
    if (happens(refuse, 'refused')) return { arrives: 'never', answer: error('failed') };
    const slow = happens(late, 'late') ? (chance(0.5) ? 'there' : 'back') : undefined;
    const there = between(slow === 'there' ? lateMs : delayMs);
    const back = between(slow === 'back' ? lateMs : delayMs);
    const lost = happens(loseRequest, 'request lost')
      ? 'there'
      : happens(loseAnswer, 'answer lost') && 'back';
    const copied = repeatable && happens(duplicate, 'copied');
    const copyLateMs = there + between(lost ? lateMs : delayMs);
    const loss = (): Journey['answer'] => (chance(broken) ? error('unknown') : 'never');
    return {
      arrives: lost === 'there' ? 'never' : { lateMs: there },
      ...(copied && { copy: { lateMs: copyLateMs } }),
      answer: lost ? loss() : { lateMs: back },
    };
  }

  /** A subscription: its reply comes after earlier ones, unless it is late or lost. */
  function inTurn(): Journey {
    const journey = journeyOf(false);
    const { arrives, answer } = journey;
    if (typeof arrives !== 'object' || answer === 'never' || isError(answer)) return journey;
    const now = clock.now();
    const due = now + arrives.lateMs + answer.lateMs;
    if (due > now + 2 * weather.delayMs[1]) return journey;
    subscribedAt = Math.max(due, subscribedAt + 1);
    return { arrives, answer: { lateMs: subscribedAt - now - arrives.lateMs } };
  }

  async function send<T>({ verb }: { readonly verb: Verb }, next: () => Promise<T>): Promise<T> {
    const journey = verb === 'watch' ? inTurn() : journeyOf(REPEATABLE.has(verb));
    const reply = await undergo(clock, journey, {
      next: async () => ({ value: await next(), lineage: store.lineage }),
      pick: (first, second) => (FIRST_COUNTS.has(verb) ? first : second),
    });
    lineage = reply.lineage;
    return reply.value;
  }

  /** Disposing of the subscription stops all hints, even those on their way. */
  async function subscribe(wake: Wake, watch: (woken: Wake) => Subscribed) {
    let stopped = false;
    const subscription = await watch(async (hint) => {
      const { delayMs, lateMs, loseHint, lateHint } = weather;
      if (happens(loseHint, 'hint lost')) return;
      const { lineage: known } = store;
      await sleep(clock, between(happens(lateHint, 'hint late') ? lateMs : delayMs));
      if (stopped) return;
      lineage = known;
      wake(hint);
    });
    return {
      [Symbol.asyncDispose]: () => {
        stopped = true;
        return subscription[Symbol.asyncDispose]();
      },
    };
  }

  // The store at the other end.
  const far = aroundStore(store, send, { ...store.traits, synchronous: false });
  const { watch } = far;
  return {
    ...far,
    get lineage() {
      return lineage;
    },
    ...(watch && { watch: (claim, wake) => subscribe(wake, (woken) => watch(claim, woken)) }),
    change: (more) => {
      weather = { ...weather, ...more };
    },
  };
}

/** A second `watch` would subscribe again, and a `list` is read while it comes. */
const REPEATABLE: ReadonlySet<Verb> = new Set([
  ...(['claim', 'claimAll', 'renew', 'release', 'inspect'] as const),
  ...(['downgrade', 'raise', 'evict', 'handOver'] as const),
]);

/** They return whether they did something; the second copy finds it done. */
const FIRST_COUNTS: ReadonlySet<Verb> = new Set(['release', 'evict']);

function error(outcome: 'failed' | 'unknown'): StoreError {
  const says = outcome === 'failed' ? 'The network refused the request.' : 'The connection broke.';
  return new StoreError(says, { retryable: true, outcome });
}
