/**
 * The fence where the guarded data is an object that is written on a condition: in S3 and its like,
 * or behind HTTP.
 *
 * Invariant: a write of a holder is carried out only if nobody has entered since that holder did.
 * It holds because each write names the ETag of this entry's own last one (`If-Match`), and an
 * entry is itself such a write: of what is there, with another fence in it. So it changes the ETag,
 * and whoever has entered holds a value that no older holder can change any more. Entries follow
 * each other in the order of their tokens: each decides on what it read, and writes only onto that.
 * The fence stands in the object's text, with a number for each write: many services make ETags of
 * the text alone, and two equal ones would let a late write pass.
 * A write whose reply is lost is sent again as it was. If it was carried out already, the copy is
 * refused, and what is there tells by entry and number whose it is.
 * What would break it: a service that ignores the conditions (`probe` finds it), or whose reads lag
 * behind its writes for ever; a write without them.
 */
import { isLockError, UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { randomId } from '../base/random-id.ts';
import { show } from '../base/show.ts';
import type { FencingToken } from '../contract/token.ts';
import { checkKind, type EnterToken, readLease, type Seen } from './entering.ts';
import { StaleTokenError } from './errors.ts';
import type { ObjectAccess, StoredObject } from './object-access.ts';
import {
  type Mark,
  markIn,
  notFenced,
  type ObjectFormat,
  SIDE_BY_SIDE,
  written,
} from './object-document.ts';
import { probeAt } from './object-probe.ts';
import { lookAt, putAt } from './object-requests.ts';
import { enteredSince, raised } from './raising.ts';

export interface ObjectFenceOptions<T> {
  /** The key of the object that this resource guards; default: the resource. */
  readonly keyOf?: (resource: string) => string;
  /** What an object begins with that is not there yet; default `null`. */
  readonly initial?: T;
  /** Default: JSON, `{"fence": …, "value": …}`. */
  readonly format?: ObjectFormat<T>;
}

export interface ObjectEntry<T> {
  /** What is in the object, as far as is known: what was read on entry, or written last. */
  readonly value: T;
  /**
   * Puts this in its place; one after the other.
   * @throws StaleTokenError if somebody has entered since. If replies were lost before, it may have
   * been carried out before they entered; they have read it then.
   * @throws StoreError: after one of unknown outcome, the next write settles it.
   * @throws UsageError for a reader.
   */
  write(value: T): Promise<void>;
}

export interface ObjectFence<T> {
  /**
   * Raises the fence to this token, by a write that leaves the value as it is.
   * @throws StaleTokenError if a newer holder was here.
   * @throws UsageError, UnsupportedError for permits, StoreError.
   */
  enter(lease: EnterToken): Promise<ObjectEntry<T>>;
  /**
   * Makes the fence follow this lease's lineage from now on, whatever it has seen. An operator's
   * act, after locks have moved to another store; everybody else must be stopped.
   */
  adopt(lease: EnterToken): Promise<void>;
  /**
   * Finds out whether the service honours conditions, on an object that is used for nothing else.
   * Some ignore them in silence, and then nothing is fenced: call it once where programs are set
   * up.
   * @throws UnsupportedError if it does not.
   */
  probe(key: string): Promise<void>;
}

const OPTIONS = ['keyOf', 'initial', 'format'];

/**
 * A fence in the object that holds the guarded data.
 *
 * @example
 * import { httpObjects, objectFence } from 'holdfast/fence';
 *
 * const objects = httpObjects({ url: 'https://files.example/' });
 * const fence = objectFence<string[]>(objects, { initial: [] });
 * await locks.mutex('plan').run(async (lease) => {
 *   const entry = await fence.enter(lease);
 *   await entry.write([...entry.value, 'one more']);
 * });
 *
 * @throws UsageError
 */
export function objectFence<T = unknown>(
  objects: ObjectAccess,
  options: ObjectFenceOptions<T> = {},
): ObjectFence<T> {
  const given = readOptions(options, OPTIONS, 'objectFence');
  const { keyOf = (resource: string) => resource, initial = null as T } = given;
  const { format = SIDE_BY_SIDE as ObjectFormat<T> } = given;
  if (typeof objects?.get !== 'function' || typeof objects.put !== 'function') {
    throw new UsageError(`objectFence takes an object with get and put, not ${show(objects)}.`);
  }
  const read = (key: string, { text }: StoredObject): Document<T> => {
    try {
      const { value, fence } = format.parse(text);
      return { value, mark: fence === undefined ? undefined : markIn(fence, key) };
    } catch (error) {
      throw isLockError(error) ? error : notFenced(key, error);
    }
  };

  async function enter(token: FencingToken, decide: Decide): Promise<Place<T>> {
    const key = checkKey(keyOf(token.resource));
    const entry = randomId();
    let there = await lookAt(objects, key);
    for (;;) {
      const before = there ? read(key, there) : { value: initial, mark: undefined };
      const own = { ...decide(before.mark), entry, seq: 0 };
      const { text, value } = written(format, before.value, own);
      const isOwn = (found: StoredObject): boolean => read(key, found).mark?.entry === entry;
      const put = await putAt(objects, { key, text, onto: there?.etag, isOwn });
      if ('etag' in put) return { key, value, mark: own, etag: put.etag };
      // Somebody else was quicker.
      there = put.found;
    }
  }

  /** Who is in the place of this entry. */
  function refusal({ key, mark: own }: Place<T>, token: FencingToken, found?: StoredObject): Error {
    const ended = (detail: string): Error =>
      new StaleTokenError(token.resource, token.token, 0n, ` ${detail}`);
    if (!found) return ended('The object was deleted.');
    const { mark } = read(key, found);
    if (mark && mark.entry !== own.entry) return enteredSince(token, mark);
    return ended('Something has written it past the fence.');
  }

  function entryOf(entered: Place<T>, token: FencingToken): ObjectEntry<T> {
    let place = entered;
    /** The number of the last write that was begun. */
    let begun = 0;
    let last: Promise<unknown> = Promise.resolve();

    async function write(wanted: T): Promise<void> {
      const { key } = entered;
      const seq = ++begun;
      const mark = { ...place.mark, seq };
      const { text, value } = written(format, wanted, mark);
      const isOwn = (found: StoredObject): boolean => {
        const there = read(key, found).mark;
        return there?.entry === mark.entry && there.seq === seq;
      };
      for (;;) {
        const put = await putAt(objects, { key, text, onto: place.etag, isOwn });
        if ('etag' in put) {
          place = { ...place, value, mark, etag: put.etag };
          return;
        }
        const late = put.found && read(key, put.found);
        const earlier = late?.mark?.entry === mark.entry && late.mark.seq > place.mark.seq;
        if (!put.found || !late?.mark || !earlier) throw refusal(place, token, put.found);
        // An earlier write of ours, of which we had not heard.
        place = { ...place, value: late.value, mark: late.mark, etag: put.found.etag };
      }
    }

    return {
      get value() {
        return place.value;
      },
      async write(value) {
        if (token.kind === 'read') throw new UsageError('A reader writes nothing.');
        const next = last.then(() => write(value));
        last = next.catch(() => {});
        await next;
      },
    };
  }

  return {
    async enter(lease) {
      const token = readLease(lease);
      checkKind(token);
      return entryOf(await enter(token, (known) => raised(token, known)), token);
    },
    async adopt(lease) {
      const token = readLease(lease);
      const { lineage } = token;
      await enter(token, () => ({ lineage, token: token.token, floor: 0n }));
    },
    probe: (key) => probeAt(objects, key),
  };
}

/** @throws UsageError */
function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw new UsageError(`keyOf must answer text that is not empty, not ${show(key)}.`);
}

interface Document<T> {
  readonly value: T;
  readonly mark: Mark | undefined;
}

/** What an entry knows of its object. */
interface Place<T> {
  readonly key: string;
  readonly value: T;
  readonly mark: Mark;
  readonly etag: string;
}

/** What the fence has seen once this one has entered. */
type Decide = (known: Seen | undefined) => Seen;
