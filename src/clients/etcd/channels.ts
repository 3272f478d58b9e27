/**
 * The one connection in use, to any of the servers. The first server is chosen at random, to spread
 * many clients; one that was left is tried last. An unreachable server delays the others only for a
 * moment.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { firstOf } from '../../base/aborts.ts';
import { singleFlight } from '../../base/single-flight.ts';
import { abortable, limited } from '../abortable.ts';
import { pauseAfter, shuffled } from '../opening.ts';
import { closed } from '../wire.ts';
import { type Endpoint, EtcdChannel } from './channel.ts';
import { NoAnswer } from './errors.ts';

/** The limit of one attempt; a server on another continent takes less. */
const ATTEMPT_MS = 1500;
/** After this long, the next server is tried as well. */
const NEXT_MS = 250;

export class EtcdChannels {
  readonly endpoints: number;
  readonly #order: Endpoint[];
  readonly #closing = new AbortController();
  current: EtcdChannel | undefined;
  readonly #opening = singleFlight(() => this.#open());
  #failures = 0;

  constructor(endpoints: readonly Endpoint[]) {
    this.endpoints = endpoints.length;
    this.#order = shuffled(endpoints);
  }

  /** Rejects with NoAnswer if it reaches no server, or with the error of the close. */
  get(): Promise<EtcdChannel> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    if (this.current) return Promise.resolve(this.current);
    return this.#opening();
  }

  close(): void {
    const reason = closed('etcd');
    this.#closing.abort(reason);
    this.current?.destroy(reason);
  }

  async #open(): Promise<EtcdChannel> {
    const { signal } = this.#closing;
    if (this.#failures > 0) {
      await sleep(pauseAfter(this.#failures), undefined, { signal, ref: false }).catch(() => {});
    }
    signal.throwIfAborted();
    try {
      const channel = await this.#first([...this.#order]);
      this.#failures = 0;
      if (!channel.usable) throw new NoAnswer(false, channel.cause);
      this.current = channel;
      return channel;
    } catch (error) {
      this.#failures++;
      signal.throwIfAborted();
      throw error;
    }
  }

  /** The first server that replies; leaves the others. */
  #first(endpoints: readonly Endpoint[]): Promise<EtcdChannel> {
    const { aborter: found, forget } = firstOf([this.#closing.signal]);
    const { signal } = found;
    const race = new Promise<EtcdChannel>((resolve, reject) => {
      let [next, trying] = [0, 0];
      const tryNext = (): void => {
        const endpoint = endpoints[next++];
        if (endpoint === undefined || signal.aborted) return;
        trying++;
        const timer = setTimeout(tryNext, NEXT_MS).unref();
        limited(ATTEMPT_MS, [signal], (s) => EtcdChannel.open(endpoint, s, this.#retired))
          .then(
            (channel) => {
              if (signal.aborted) return channel.destroy(signal.reason);
              resolve(channel);
              found.abort(new Error('another server was there before'));
            },
            (error: unknown) => {
              this.#putLast(endpoint);
              trying--;
              if (next < endpoints.length) tryNext();
              else if (trying === 0) reject(error);
            },
          )
          .finally(() => clearTimeout(timer));
      };
      tryNext();
    });
    // No attempt ends the race if the close comes before the last server's turn.
    return abortable(this.#closing.signal, race).finally(forget);
  }

  readonly #retired = (channel: EtcdChannel): void => {
    if (this.current === channel) this.current = undefined;
    this.#putLast(channel.endpoint);
  };

  #putLast(endpoint: Endpoint): void {
    const at = this.#order.indexOf(endpoint);
    this.#order.push(...this.#order.splice(at, 1));
  }
}
