/**
 * The times of a session: when to send a ping, when to give a connection up, and when the session
 * must be over, whatever servers would say. They count from when an answered request was sent,
 * because a server may have counted from then. A ping follows a twelfth of the timeout without a
 * request. After a third without a reply the connection is given up, in time for another one, as
 * claims live for two thirds. A server that has lost its leader, or stands still, answers no
 * writes: if there are others, it is given up when a request has no reply for a sixth.
 */
import { type Clock, OneTimer } from '../../../base/clock.ts';
import { afterInput } from '../../../base/event-loop.ts';
import type { ZookeeperLink } from '../link.ts';

export interface VigilEvents {
  readonly clock: Clock;
  readonly choice: boolean;
  /** The whole timeout has gone; the last event. */
  expired(): void;
}

/** A server that is silent for less may only be busy. */
const BUSY_MS = 1000;

export class Vigil {
  contactAt: number;
  readonly #timeoutMs: number;
  readonly #events: VigilEvents;
  readonly #timer: OneTimer;
  #link: ZookeeperLink | undefined;
  #over = false;

  constructor(timeoutMs: number, contactAt: number, events: VigilEvents) {
    this.#timeoutMs = timeoutMs;
    this.contactAt = contactAt;
    this.#events = events;
    this.#timer = new OneTimer(events.clock);
  }

  watch(link: ZookeeperLink | undefined): void {
    this.#link = link;
    this.#arm();
  }

  answered(sentAt: number): void {
    this.contactAt = Math.max(this.contactAt, sentAt);
  }

  get late(): boolean {
    return this.#events.clock.now() - this.contactAt >= this.#timeoutMs;
  }

  end(): void {
    this.#over = true;
    this.#timer.clear();
  }

  #arm(): void {
    if (this.#over) return;
    const over = this.contactAt + this.#timeoutMs;
    const times = this.#link && this.#times(this.#link);
    const due = Math.min(over, times?.askAt ?? over, times?.giveUpAt ?? over);
    this.#timer.set(() => this.#look(), Math.max(1, due - this.#events.clock.now()));
    this.#timer.unref();
  }

  #times(link: ZookeeperLink): { readonly askAt: number; readonly giveUpAt: number } {
    const { sentAt, answeredAt, waitingSince } = link;
    const twelfth = this.#timeoutMs / 12;
    const silentAt = answeredAt + Math.min(8 * twelfth, Math.max(BUSY_MS, 4 * twelfth));
    const since = this.#events.choice ? waitingSince : Number.POSITIVE_INFINITY;
    const giveUpAt = Math.min(silentAt, since + Math.max(BUSY_MS, 2 * twelfth));
    return { askAt: sentAt + twelfth, giveUpAt };
  }

  #look(): void {
    if (this.#over) return;
    if (this.late) return this.#events.expired();
    afterInput(() => this.#act(), this.#events.clock);
  }

  #act(): void {
    const [link, now] = [this.#link, this.#events.clock.now()];
    if (this.#over || !link) return this.#arm();
    const { askAt, giveUpAt } = this.#times(link);
    if (now >= giveUpAt) {
      const silentMs = now - Math.min(link.answeredAt, link.waitingSince);
      link.end(new Error(`there was no answer for ${Math.round(silentMs)} ms`));
    } else if (now >= askAt) link.ping();
    this.#arm();
  }
}
