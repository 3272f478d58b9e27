/** Finds services that take conditional writes for plain ones. */
import { UnsupportedError } from '../errors.ts';
import { randomId } from '../random-id.ts';
import { type ConditionalPut, fateOf, type ObjectAccess } from './object-access.ts';
import { lookAt, putAt } from './object-requests.ts';

/** @throws UnsupportedError, StoreError */
export async function probeAt(objects: ObjectAccess, key: string): Promise<void> {
  const text = (): string => JSON.stringify({ probe: randomId() });
  const isOwn = (): boolean => false;
  const before = await lookAt(objects, key);
  const first = await putAt(objects, { key, text: text(), onto: before?.etag, isOwn });
  const there = 'etag' in first ? first.etag : first.found?.etag;
  if (there === undefined) throw lacking('keep what is written');
  const second = await putAt(objects, { key, text: text(), onto: there, isOwn });
  if (!('etag' in second)) throw lacking('write what has the ETag of If-Match');
  await mustRefuse(objects, { key, text: text(), ifMatch: there }, 'honour If-Match');
  await mustRefuse(objects, { key, text: text(), ifNoneMatch: '*' }, 'honour If-None-Match');
}

async function mustRefuse(objects: ObjectAccess, put: ConditionalPut, what: string): Promise<void> {
  try {
    await objects.put(put);
  } catch (error) {
    if (fateOf(error) === 'refused') return;
    throw error;
  }
  throw lacking(what);
}

function lacking(what: string): UnsupportedError {
  const message = `The service does not ${what}: nothing on it can be fenced like this.`;
  return new UnsupportedError('conditional writes', message);
}
