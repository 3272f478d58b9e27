/**
 * Documents as objects with conditional writes: in S3 and its like.
 *
 * A version is an ETag. Many services make it of the text alone, so texts must never repeat, and
 * those of `documentStore` never do. There is no `remove`: too many services accept the condition
 * of a deletion and ignore it, which would delete a lock that is held.
 */
import { isLockError } from '../../base/errors.ts';
import { timeOfError } from '../../clients/aws/send.ts';
import { failureOf, fateOf, isRepeated } from '../../clients/http/fate.ts';
import { KEYS } from '../../clients/http/keys.ts';
import { checkAccess, type ObjectAccess } from '../../clients/objects/access.ts';
import type { Documents } from '../document/documents.ts';

/** Two replies may come from two machines, and `Date` counts seconds. */
const SLACK_MS = 2000;

/** S3: another write of this object was under way. */
const CONFLICT = 'ConditionalRequestConflict';

/** @throws UsageError */
export function objectDocuments(objects: ObjectAccess): Documents {
  checkAccess(objects);
  return {
    name: 'objects',
    ...(objects.putTimed && { slackMs: objects.slackMs ?? SLACK_MS }),
    async get(name) {
      try {
        const found = await objects.get(KEYS.keyOf(name));
        if (!found) return {};
        const { etag, ...others } = found;
        return { ...others, version: etag };
      } catch (error) {
        if (fateOf(error) === 'missing' && !isBucket(error)) return timeOfError(error);
        throw typed(error);
      }
    },
    async put(name, text, onto) {
      const condition = onto === undefined ? ({ ifNoneMatch: '*' } as const) : { ifMatch: onto };
      try {
        const put = { key: KEYS.keyOf(name), text, ...condition };
        const { etag, ...timed } = (await objects.putTimed?.(put)) ?? {
          etag: await objects.put(put),
        };
        return { ...(etag !== undefined && { version: etag }), ...timed };
      } catch (error) {
        if (!isRepeated(error) && isOther(error, onto)) return 'other';
        throw typed(error);
      }
    },
    ...(objects.list && { list: (prefix) => listed(objects, prefix) }),
  };
}

async function* listed(objects: ObjectAccess, prefix: string): AsyncIterable<string> {
  try {
    for await (const key of objects.list?.(KEYS.beginningOf(prefix)) ?? []) {
      const name = KEYS.nameOf(key);
      if (name?.startsWith(prefix)) yield name;
    }
  } catch (error) {
    throw typed(error);
  }
}

/** Nothing was written: another object is there, or none, or another write was under way. */
function isOther(error: unknown, onto: string | undefined): boolean {
  const fate = fateOf(error);
  if (fate === 'missing') return onto !== undefined && !isBucket(error);
  return fate === 'refused' || (error as { name?: unknown }).name === CONFLICT;
}

function isBucket(error: unknown): boolean {
  return (error as { readonly name?: unknown } | undefined)?.name === 'NoSuchBucket';
}

function typed(error: unknown): unknown {
  return isLockError(error) ? error : failureOf('The object service', error);
}
