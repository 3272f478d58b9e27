/**
 * Documents as objects with conditional writes: in S3 and its like.
 *
 * A version is an ETag. Many services make it of the text alone, so texts must never repeat, and
 * those of `documentStore` never do. There is no `remove`: too many services accept the condition
 * of a deletion and ignore it, which would delete a lock that is held.
 */
import { timeOfError } from '../../clients/aws/send.ts';
import { DATE_SLACK_MS, failureOf, fateOf, isRepeated, nameOf } from '../../clients/http/fate.ts';
import { KEYS } from '../../clients/http/keys.ts';
import { checkAccess, type ObjectAccess } from '../../clients/objects/access.ts';
import type { Documents } from '../document/documents.ts';

export function objectDocuments(objects: ObjectAccess): Documents {
  checkAccess(objects);
  return {
    name: 'objects',
    ...(objects.putTimed && { slackMs: objects.slackMs ?? DATE_SLACK_MS }),
    async get(name) {
      try {
        const found = await objects.get(KEYS.keyOf(name));
        if (!found) return {};
        const { etag, ...others } = found;
        return { ...others, version: etag };
      } catch (error) {
        if (isMissing(error)) return timeOfError(error);
        return fail(error);
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
        return fail(error);
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
    fail(error);
  }
}

/** Nothing was written: another object is there, or none, or another write was under way. */
function isOther(error: unknown, onto: string | undefined): boolean {
  if (isMissing(error)) return onto !== undefined;
  return fateOf(error) === 'refused' || nameOf(error) === 'ConditionalRequestConflict';
}

/** The object, not the bucket. */
function isMissing(error: unknown): boolean {
  return fateOf(error) === 'missing' && nameOf(error) !== 'NoSuchBucket';
}

function fail(error: unknown): never {
  throw failureOf('The object service', error);
}
