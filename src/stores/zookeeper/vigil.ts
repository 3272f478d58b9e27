/**
 * The times of a session: when to ask for a sign of life, when to give a connection up, and when
 * the session must be over, whatever servers would say. They are counted from when an answered
 * request was sent, for a server may have counted from then.
 */
import type { Clock, Timer } from '../../clock.ts';
import type { Link } from './link.ts';

export interface VigilEvents {
  readonly clock: Clock;
  /** The whole timeout has gone; nothing more comes. */
  expired(): void;
}

export class Vigil {
  /** When the last request that was answered was sent. */
  contactAt: number;
  readonly #timeoutMs: number;
  readonly #events: VigilEvents;
  #link: Link | undefined;
  #timer: Timer | undefined;
  #over = false;

  constructor(timeoutMs: number, contactAt: number, events: VigilEvents) {
    this.#timeoutMs = timeoutMs;
    this.contactAt = contactAt;
    this.#events = events;
  }

  /** From now on this is the connection; undefined: there is none. */
  watch(link: Link | undefined): void {
    this.#link = link;
    this.#arm();
  }

  heard(sentAt: number): void {
    this.contactAt = Math.max(this.contactAt, sentAt);
  }

  /** Whether the session's whole timeout has gone. */
  get late(): boolean {
    return this.#events.clock.now() - this.contactAt >= this.#timeoutMs;
  }

  end(): void {
    this.#over = true;
    this.#events.clock.clearTimeout(this.#timer as Timer);
  }

  #arm(): void {
    if (this.#over) return;
    const { clock } = this.#events;
    if (this.#timer) clock.clearTimeout(this.#timer);
    const due = this.#due();
    this.#timer = clock.setTimeout(() => this.#look(due), Math.max(1, due - clock.now()));
    this.#timer.unref();
  }

  #due(): number {
    const over = this.contactAt + this.#timeoutMs;
    if (!this.#link) return over;
    const { askAt, giveUpAt } = this.#times(this.#link);
    return Math.min(over, askAt, giveUpAt);
  }

  #times({ sentAt, heardAt }: Link): { readonly askAt: number; readonly giveUpAt: number } {
    const twelfth = this.#timeoutMs / 12;
    return { askAt: sentAt + twelfth, giveUpAt: heardAt + 8 * twelfth };
  }

  #look(due: number): void {
    if (this.#over) return;
    if (this.late) return this.#events.expired();
    // Who stood still himself reads what has arrived meanwhile before he calls the server silent.
    const { clock } = this.#events;
    if (clock.now() - due > this.#timeoutMs / 10) clock.setImmediate(() => this.#act());
    else this.#act();
  }

  #act(): void {
    const [link, now] = [this.#link, this.#events.clock.now()];
    if (this.#over || !link) return this.#arm();
    const { askAt, giveUpAt } = this.#times(link);
    if (now >= giveUpAt) {
      link.end(new Error(`nothing was heard for ${Math.round(now - link.heardAt)} ms`));
    } else if (now >= askAt) link.ping();
    this.#arm();
  }
}
