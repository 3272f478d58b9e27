/**
 * One resource as a text that is only changed if it is still what was read.
 *
 * Invariant: the versions of the text are the steps of its queue. A process takes all verbs that
 * wait for the resource, in order, as one step on the text that it knows, and writes the result
 * on the condition that this text is still there. So a reply counts when its write succeeded, or
 * when a read that began after the verb had come showed that there is nothing to write. A text that
 * is only remembered (the last one written, which saves the read) was right if the write succeeds.
 * - A lost reply: each write has a name of its own, which is in the text. Reading again shows
 *   whether it is there; if another text is, the verbs are done again: they are idempotent.
 * - A late copy of a write names the text that it replaces. The next write of this process has
 *   replaced that text before any verb got a reply, and a release writes even if it finds nothing;
 *   so the copy finds another text, and needs no tombstone. Tombstones in the queue are for copies
 *   of claims, as in any store.
 * - Contention: one write at a time for a process and resource, and after a refusal a random pause,
 *   so that one of several processes succeeds each time.
 * - A document that is gone, or whose numbers went back, was lost: claims of this process that are
 *   not in it are `store-reset`, and numbers go on from the last one known, and from the time.
 * What would break it: a service that writes a text twice, or reads an old one (caches, replicas),
 * a client that repeats a write and returns `other` for its own success, or two documents for one
 * resource.
 */
import type { Clock } from '../../base/clock.ts';
import { sleep, timers } from '../../base/clock.ts';
import { isLockError } from '../../base/errors.ts';
import { toStoreError } from '../../contract/errors.ts';
import type { ClaimStatus } from '../../contract/store.ts';
import { ClaimQueue } from '../../queue/queue.ts';
import type { Entry } from '../../queue/state.ts';
import { type Ask, Asks, type AskTerms, type QueueMoment, type QueueStep } from './asks.ts';
import { type DocumentLife, signOf } from './life.ts';
import type { Service, StoredDocument } from './service.ts';
import { fromText, type Heading, toText, type WrittenQueue } from './text.ts';

export interface DocumentParts {
  readonly service: Service;
  readonly life: DocumentLife;
  readonly clock: Clock;
  readonly heading: Heading;
  readonly nextWrite: () => string;
  /** Takes the status of a claim that was changed by a verb of another. */
  readonly wake: (entry: Entry, status: ClaimStatus, queue: ClaimQueue) => void;
}

/** The text as far as it is known, with all that was asked up to here before it was read. */
interface KnownDocument extends StoredDocument {
  readonly upTo: number;
}

interface Draft {
  readonly asks: readonly Ask[];
  readonly answers: readonly unknown[];
  readonly woken: readonly (readonly [Entry, ClaimStatus])[];
  readonly queue: ClaimQueue;
  readonly write: string;
  readonly text: string;
  readonly changed: boolean;
}

/** Verbs that name no claim have as long as a claim with this TTL, in ms. */
const PATIENCE_MS = 30_000;

/** The patience of a look, in ms. */
const LOOK_MS = 10_000;

/** A document that has not been used for this long, in ms, is forgotten. */
const REST_MS = 60_000;

/** Longest pause after a refused write, in ms. */
const LONGEST_PAUSE_MS = 250;

export class Document {
  readonly #parts: DocumentParts;
  readonly #asks = new Asks();
  readonly #sent = new Map<string, number>();
  readonly #seen = new Map<string, number>();
  readonly #lost = new Set<string>();
  #known: KnownDocument | undefined;
  #writing = false;
  #last = 0n;
  #usedAt = 0;
  #restMs = REST_MS;

  constructor(parts: DocumentParts) {
    this.#parts = parts;
  }

  /** Does the step together with all that wait, and returns its answer when that is final. */
  change<T>(step: QueueStep<T>, terms: Partial<AskTerms> = {}): Promise<T> {
    const { ttlMs = PATIENCE_MS, lasts = false } = terms;
    this.#usedAt = this.#parts.clock.now();
    // Signs of life of others are remembered for as long as they may matter.
    this.#restMs = Math.max(this.#restMs, 2 * ttlMs);
    const answer = this.#asks.add(step, { ttlMs, lasts }, this.#usedAt);
    if (!this.#writing) timers.queueMicrotask(() => void this.#work());
    this.#writing = true;
    return answer;
  }

  /** Looks at a copy, after all verbs that came before. */
  look<T>(view: QueueStep<T>): Promise<T> {
    const step: QueueStep<T> = (queue) => {
      const copy = ClaimQueue.from(JSON.parse(JSON.stringify(queue)));
      return view(copy, this.#moment(copy));
    };
    return this.change(step, { ttlMs: LOOK_MS });
  }

  /** True if it has not been used for so long that nothing is to be remembered of it. */
  get isResting(): boolean {
    return this.#asks.isEmpty && this.#parts.clock.now() >= this.#usedAt + this.#restMs;
  }

  /** Removes it if it says no more than the time of a common clock does. Never rejects. */
  async remove(): Promise<void> {
    const { service, life, heading } = this.#parts;
    const { version } = this.#known ?? {};
    if (!this.#known || version === undefined || life.clock !== 'service') return;
    const { queue } = this.#read(this.#known);
    const { now } = life.time();
    queue.tidy(now);
    const old = queue.last < BigInt(Math.floor((now - REST_MS / 2) * 1000));
    if (queue.isBlank && old) await service.remove(heading.resource, version);
  }

  /** True once for a claim of this process that was lost with the document. */
  hasLost(id: string): boolean {
    return this.#lost.delete(id);
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    while (!this.#asks.isEmpty) {
      await this.#write().catch((error) => {
        this.#known = undefined;
        this.#asks.refuse(this.#asks.all, toStoreError(error));
      });
    }
    this.#writing = false;
  }

  /** One step of all that wait. @throws StoreError if the document cannot be read. */
  async #write(): Promise<void> {
    const { service, clock, heading } = this.#parts;
    const key = heading.resource;
    let doubtful: Draft | undefined;
    for (let tries = 0; !this.#asks.isEmpty; tries++) {
      const { limitMs } = this.#asks;
      if (this.#known && this.#isUnsure(this.#known)) this.#known = undefined;
      const upTo = this.#asks.count;
      const found = this.#known ?? { ...(await service.get(key, limitMs)), upTo };
      const written = this.#read(found);
      if (doubtful && written.write === doubtful.write) {
        this.#known = found;
        return this.#done(doubtful);
      }
      const draft = this.#draft(written);
      if (!draft.changed) {
        this.#known = undefined;
        if (draft.asks.every(({ nth }) => nth <= found.upTo)) return this.#done(draft);
        continue;
      }
      const sentAt = clock.now();
      const wrote = await service
        .put(key, draft.text, { onto: found.version, limitMs })
        .catch((error: unknown) => toStoreError(error));
      this.#known = undefined;
      if (isLockError(wrote)) return this.#asks.refuse(draft.asks, wrote);
      if (typeof wrote === 'object') {
        const { version } = wrote;
        if (version !== undefined) this.#known = { text: draft.text, version, upTo: 0 };
        return this.#done(draft);
      }
      if (wrote === 'unknown') {
        doubtful = draft;
        this.#asks.doubt(draft.asks, draft.answers);
      }
      this.#asks.refuseOverdue(clock.now(), `'${key}' in ${heading.service}`);
      const longest = Math.min((clock.now() - sentAt) * 2 ** tries, LONGEST_PAUSE_MS);
      await sleep(clock, clock.random() * longest);
    }
  }

  /** True if a claim may have ended by now: a reply with the time shows whether it has. */
  #isUnsure(known: KnownDocument): boolean {
    const { queue } = this.#read(known);
    const { now, lead } = this.#parts.life.time();
    return [...queue.claims].some(({ expiresAt }) => expiresAt > now && expiresAt <= now + lead);
  }

  #read({ text }: StoredDocument): WrittenQueue {
    const { heading, life } = this.#parts;
    const written =
      text === undefined
        ? { queue: new ClaimQueue({ last: this.#last }), write: '' }
        : fromText(heading, text);
    const { queue } = written;
    if (text === undefined || queue.last < this.#last) this.#miss(queue);
    if (queue.last > this.#last) this.#last = queue.last;
    life.date(queue.claims, { sent: this.#sent, seen: this.#seen });
    return written;
  }

  /** The document has been lost, or an older one has come back. */
  #miss(queue: ClaimQueue): void {
    const ids = new Set([...queue.claims].map(({ id }) => id));
    for (const sign of this.#sent.keys()) {
      const [id = ''] = sign.split(' ');
      if (!ids.has(id)) this.#lost.add(id);
      if (!ids.has(id)) this.#sent.delete(sign);
    }
  }

  #moment(queue: ClaimQueue): QueueMoment {
    const { now, lead } = this.#parts.life.time();
    queue.lead = lead;
    const number = BigInt(Math.floor(now * 1000));
    return { now, number: number > this.#last ? number : this.#last + 1n };
  }

  #draft({ queue }: WrittenQueue): Draft {
    const { heading, nextWrite } = this.#parts;
    const before = JSON.stringify(queue);
    const signs = new Set([...queue.claims].map(signOf));
    const moment = this.#moment(queue);
    const asks = this.#asks.all;
    const answers = asks.map(({ step }) => step(queue, moment));
    const woken = queue
      .takeTold()
      .map((entry) => [entry, queue.statusOf(entry, moment.now)] as const);
    for (const entry of queue.claims) {
      const sign = signOf(entry);
      if (!signs.has(sign)) this.#sent.set(sign, entry.expiresAt);
    }
    const changed = JSON.stringify(queue) !== before;
    const write = nextWrite();
    return { asks, answers, woken, queue, write, text: toText(heading, write, queue), changed };
  }

  #done({ asks, answers, woken, queue }: Draft): void {
    if (queue.last > this.#last) this.#last = queue.last;
    const signs = new Set([...queue.claims].map(signOf));
    for (const sign of this.#sent.keys()) if (!signs.has(sign)) this.#sent.delete(sign);
    this.#asks.answer(asks, answers);
    // After the replies, which are older.
    timers.queueMicrotask(() => {
      for (const [entry, status] of woken) this.#parts.wake(entry, status, queue);
    });
  }
}
