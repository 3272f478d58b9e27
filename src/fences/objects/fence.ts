/**
 * The fence where the guarded data is an object with conditional writes: in S3 and its like, or
 * behind HTTP.
 *
 * Invariant: a holder's write is carried out only if no holder has entered since it did. It holds
 * because each write names the ETag of this entry's own last one (`If-Match`), and an entry is
 * itself such a write: of the same value, with another fence in it. So it changes the ETag, and no
 * older holder can change the value of a holder that has entered. Entries follow each other in the
 * order of their tokens: each decides on the version it read, and replaces only that. The fence is
 * in the object's text, with a number for each write: many services make ETags of the text alone,
 * and two equal ones would let a late write pass.
 * A write whose reply is lost is sent again unchanged. If it was carried out already, the copy is
 * refused, and the entry and number in the object show whose write it has.
 * What would break it: a service that ignores the conditions (`probeObjects` finds it), or whose
 * reads lag behind its writes for ever; a write without conditions.
 */
import { UsageError } from '../../base/errors.ts';
import { readOptions } from '../../base/options.ts';
import { randomId } from '../../base/random-id.ts';
import { show } from '../../base/show.ts';
import { checkAccess, type ObjectAccess, type StoredObject } from '../../clients/objects/access.ts';
import { lookAt, putAt } from '../../clients/objects/requests.ts';
import type { FencingToken } from '../../contract/token.ts';
import { type Fence, type FenceEntry, fenced, fenceOf } from '../fence.ts';
import { enteredSince, over, raised, type SeenToken } from '../rule.ts';

export interface ObjectFenceOptions<T> {
  /** The value of an object that does not exist yet; default `null`. */
  readonly initial?: T;
}

/**
 * Writes are carried out one after the other; after one of unknown outcome, the next one settles
 * it. If replies were lost before a `StaleTokenError`, the write may have been carried out before
 * the next holder entered; that holder has then read it.
 */
export interface ObjectEntry<T> extends FenceEntry<T, void> {
  /** The last known value: the one read on entry, or written last. */
  readonly value: T;
}

/**
 * A fence in the object that holds the guarded data: `{"fence": …, "value": …}`, in JSON. Its key
 * is the name of the resource, which `get` and `put` may map to another.
 *
 * @example
 * import { objectFence } from 'holdfast/fence';
 *
 * const fence = objectFence<string[]>({ initial: [] });
 * await locks.mutex('plan').run(async (lease) => {
 *   const entry = await fence.enter(objects, lease);
 *   await entry.write([...entry.value, 'one more']);
 * });
 *
 * @throws UsageError
 */
export function objectFence<T = unknown>(
  options: ObjectFenceOptions<T> = {},
): Fence<ObjectAccess, Promise<ObjectEntry<T>>> {
  const { initial = null as T } = readOptions(options, ['initial'], 'objectFence');
  return fenceOf(async (verb, objects, lease) => {
    const token = fenced(lease);
    checkAccess(objects);
    const { resource: key } = token;
    const entry = randomId();
    let there = await lookAt(objects, key);
    for (;;) {
      const before = there ? documentIn<T>(there.text, key) : { value: initial, mark: undefined };
      const mark = { ...raised(verb, token, () => before.mark), entry, seq: 0 };
      const { text, value } = written(before.value, mark);
      const put = await putAt(objects, { key, text, onto: there?.etag, isOwn: isOf(key, mark) });
      if ('etag' in put) return entryOf(objects, token, { value, mark, etag: put.etag });
      // Another holder was faster.
      there = put.found;
    }
  });
}

/** Returns a test whether the write with this mark made an object. */
function isOf(key: string, own: FenceMark): (found: StoredObject) => boolean {
  return ({ text }) => {
    const { mark } = documentIn(text, key);
    return mark?.entry === own.entry && mark.seq === own.seq;
  };
}

interface KnownObject<T> {
  readonly value: T;
  readonly mark: FenceMark;
  readonly etag: string;
}

function entryOf<T>(
  objects: ObjectAccess,
  token: FencingToken,
  entered: KnownObject<T>,
): ObjectEntry<T> {
  const { resource: key } = token;
  let known = entered;
  /** The number of the last write begun. */
  let begun = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function write(wanted: T): Promise<void> {
    const mark = { ...known.mark, seq: ++begun };
    const { text, value } = written(wanted, mark);
    for (;;) {
      const put = await putAt(objects, { key, text, onto: known.etag, isOwn: isOf(key, mark) });
      if ('etag' in put) {
        known = { value, mark, etag: put.etag };
        return;
      }
      if (!put.found) throw over(token, 0n, 'The object was deleted.');
      const late = documentIn<T>(put.found.text, key);
      if (late.mark && late.mark.entry !== mark.entry) throw enteredSince(token, late.mark);
      if (!late.mark || late.mark.seq <= known.mark.seq) {
        throw over(token, 0n, 'Something wrote the object without passing the fence.');
      }
      // An earlier write of this entry, whose reply was lost.
      known = { value: late.value, mark: late.mark, etag: put.found.etag };
    }
  }

  return {
    get value() {
      return known.value;
    },
    async write(value) {
      if (token.kind === 'read') throw new UsageError('A reader must not write.');
      const next = last.then(() => write(value));
      last = next.catch(() => {});
      await next;
    },
  };
}

/** The fence in an object, with the entry and write that put it there. */
interface FenceMark extends SeenToken {
  readonly entry: string;
  readonly seq: number;
}

/**
 * The text to write, and the value parsed from it, which shares nothing with the given one.
 * @throws UsageError for a value that JSON does not have.
 */
function written<T>(value: T, mark: FenceMark): { text: string; value: T } {
  const fence = { ...mark, token: String(mark.token), floor: String(mark.floor) };
  let cause: unknown;
  try {
    const text = JSON.stringify({ fence, value });
    const read = JSON.parse(text) as { readonly value?: T };
    if (read.value !== undefined) return { text, value: read.value };
  } catch (error) {
    cause = error;
  }
  throw new UsageError(`The value cannot be kept in an object: ${show(value)}.`, { cause });
}

/** Refuses other fields: another program wrote them, and the next write would lose them. */
function documentIn<T>(text: string, key: string) {
  let cause: unknown;
  try {
    const { fence, value, ...others } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (value !== undefined && Object.keys(others).length === 0) {
      return { value: value as T, mark: fence === undefined ? undefined : markIn(fence) };
    }
  } catch (error) {
    cause = error;
  }
  const message = `The object ${show(key)} has no fence: something else has written it.`;
  throw new UsageError(message, { cause });
}

function markIn(fence: unknown): FenceMark {
  const { lineage, token, floor, entry, seq } = fence as Record<keyof FenceMark, string>;
  if (typeof lineage !== 'string' || typeof entry !== 'string') throw new Error('Not a fence.');
  return { lineage, entry, seq: Number(seq), token: BigInt(token), floor: BigInt(floor) };
}
