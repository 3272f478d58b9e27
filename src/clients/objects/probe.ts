/** Finds services that carry out conditional writes as if they were plain ones. */
import { randomId } from '../../base/random-id.ts';
import { UnsupportedError } from '../../contract/errors.ts';
import { checkAccess, type ObjectAccess } from './access.ts';
import { lookAt, type Placed, putAt } from './requests.ts';

/** Enough that a service that checks first and then writes is likely to accept two. */
const AT_ONCE = 8;

/**
 * Finds out whether the service honours conditions, on an object that is used for nothing else.
 * Some ignore them silently, and then nothing is fenced: call it once when you set up a program.
 *
 * @example
 * import { probeObjects } from 'holdfast/fence';
 *
 * await probeObjects(objects, 'holdfast-probe');
 *
 * @throws UnsupportedError if it does not; UsageError, StoreError.
 */
export async function probeObjects(objects: ObjectAccess, key: string): Promise<void> {
  checkAccess(objects);
  const put = (onto: string | undefined): Promise<Placed> => {
    const text = JSON.stringify({ probe: randomId() });
    return putAt(objects, { key, text, onto, isOwn: (found) => found.text === text });
  };
  const before = await lookAt(objects, key);
  const first = await put(before?.etag);
  const there = await lookAt(objects, key);
  if (there === undefined) throw lacking('keep what is written');
  if ('etag' in first && first.etag !== there.etag) {
    throw lacking('return the same ETag from PUT and from GET');
  }
  const second = await put(there.etag);
  if (!('etag' in second)) throw lacking('accept a write whose If-Match is the current ETag');
  if ('etag' in (await put(there.etag))) throw lacking('honour If-Match');
  if ('etag' in (await put(undefined))) throw lacking('honour If-None-Match');
  const rivals = await Promise.all(Array.from({ length: AT_ONCE }, () => put(second.etag)));
  if (rivals.filter((one) => 'etag' in one).length > 1) {
    throw lacking('compare and write in one step');
  }
}

function lacking(what: string): UnsupportedError {
  const message = `The service does not ${what}, so it can keep neither fences nor locks.`;
  return new UnsupportedError('conditional writes', message);
}
