import type { Clock } from '../../base/clock.ts';
import { isLockError, UsageError } from '../../base/errors.ts';
import { StoreError, toStoreError } from '../../contract/errors.ts';
import type { Documents } from './documents.ts';
import type { DocumentLife } from './life.ts';

/** A text and its version; neither, if there is none. */
export interface StoredDocument {
  readonly text: string | undefined;
  readonly version: string | undefined;
}

/** What became of a write; `unknown`: there was no reply, and a copy of it may still arrive. */
export type Wrote = { readonly version: string | undefined } | 'other' | 'unknown';

const WANTED = {
  get: '{ text, version } as strings, or neither of them where nothing is',
  put: "{ version } as a string, {} or 'other'",
};

const FIELD = /^(text|version|nowMs)$/;
/** Of text and version. Kubernetes has a version where another program's lease is. */
const KINDS = ['string string', 'undefined string', 'undefined undefined'];

/** The service, within a time, and with the time that it tells. */
export class Service {
  readonly #documents: Documents;
  readonly #clock: Clock;
  readonly #life: DocumentLife;

  constructor(documents: Documents, clock: Clock, life: DocumentLife) {
    this.#documents = documents;
    this.#clock = clock;
    this.#life = life;
  }

  async get(key: string, limitMs: number): Promise<StoredDocument> {
    const sentAt = this.#clock.now();
    try {
      const reply = await this.#within(limitMs, this.#documents.get(key));
      this.#check('get', reply);
      this.#life.saw(reply.nowMs, sentAt);
      return { text: reply.text, version: reply.version };
    } catch (cause) {
      const { message, retryable } = toStoreError(cause);
      throw new StoreError(message, { cause, retryable, outcome: 'failed' });
    }
  }

  /** @throws StoreError if nothing was written and never will be, or it is misused. */
  async put(
    key: string,
    text: string,
    { onto, limitMs }: { readonly onto: string | undefined; readonly limitMs: number },
  ): Promise<Wrote> {
    const sentAt = this.#clock.now();
    try {
      const reply = await this.#within(limitMs, this.#documents.put(key, text, onto));
      if (reply === 'other') return 'other';
      this.#check('put', reply);
      this.#life.saw(reply.nowMs, sentAt);
      return { version: reply.version };
    } catch (error) {
      if (isLockError(error, 'USAGE')) {
        const terms = { cause: error, retryable: false, outcome: 'unknown' } as const;
        throw new StoreError(error.message, terms);
      }
      if (isLockError(error, 'STORE') && (error as StoreError).outcome === 'failed') throw error;
      return 'unknown';
    }
  }

  /** Never rejects; tried again by another process, or never. */
  async remove(key: string, version: string): Promise<void> {
    try {
      await this.#documents.remove?.(key, version);
    } catch {
      // It only takes up room.
    }
  }

  /** A reply of another shape would look like a free lock, or a write. */
  #check(verb: keyof typeof WANTED, reply: unknown): void {
    const { text, version } = Object(reply) as Readonly<Record<string, unknown>>;
    const fields = Object.keys(Object(reply));
    // Others are of what a client returns for its own statements or requests.
    const known = fields.length === 0 || fields.some((field) => FIELD.test(field));
    const fits = KINDS.includes(`${typeof text} ${typeof version}`);
    if (kindOf(reply) === 'Object' && known && fits) return;
    const what = `${verb}() of the documents ${this.#documents.name}`;
    throw new UsageError(`${what} must return ${WANTED[verb]}, not ${kindsOf(reply)}.`);
  }

  /** A client may be silent for ever. */
  #within<T>(limitMs: number, reply: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => {
        const message = `${this.#documents.name} did not reply within ${Math.round(limitMs)} ms.`;
        reject(new StoreError(message, { retryable: true, outcome: 'unknown' }));
      };
      const timer = this.#clock.setTimeout(late, limitMs);
      timer.unref();
      const over = (): void => this.#clock.clearTimeout(timer);
      reply.then(resolve, reject).finally(over);
    });
  }
}

/** No values, because a text has the ids of claims. */
function kindsOf(reply: unknown): string {
  if (kindOf(reply) !== 'Object') return kindOf(reply);
  const fields = Object.entries(reply as object);
  return `{ ${fields.map(([name, value]) => `${name}: ${kindOf(value)}`).join(', ')} }`;
}

function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}
