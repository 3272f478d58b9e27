/** The one change that a page can make. */
import { UsageError } from '../base/errors.ts';
import type { Locks } from '../locks.ts';
import { evict } from '../operators/evict.ts';
import { whoText } from './board.ts';
import type { HttpAnswer } from './http.ts';
import type { StoreWatcher } from './watcher.ts';
import type { EvictRequest } from './wire.ts';

/**
 * Evicts whom the body names.
 * @throws UsageError if it is not an `EvictRequest`, or if the name is not shown or was not typed;
 *   UnsupportedError, StoreError, ClosedError
 */
export async function evictBy(
  locks: Locks,
  watcher: StoreWatcher,
  body: unknown,
): Promise<HttpAnswer> {
  const { name, token, reason, now } = readBody(body);
  watcher.checkShown(name);
  const evicted = await evict(locks, name, { token: BigInt(token), reason, now });
  if (!evicted) return { status: 404, json: { error: 'There is no such claim any more.' } };
  const seat = watcher.board.row(name)?.seats.find((each) => each.token === token);
  const who = seat ? whoText(seat) : null;
  watcher.history.evicted({ at: Date.now(), name, token, who, detail: reason });
  return { status: 200, json: { evicted: true } };
}

function readBody(body: unknown): Required<EvictRequest> {
  const given = (body ?? {}) as Partial<Record<keyof EvictRequest, unknown>>;
  const text = (key: 'name' | 'token' | 'reason' | 'typed'): string => {
    const value = given[key];
    if (typeof value === 'string' && value !== '') return value;
    throw new UsageError(`${key} must be text.`);
  };
  const [name, token, typed] = [text('name'), text('token'), text('typed')];
  if (typed !== name) throw new UsageError('What was typed is not the name.');
  if (!/^\d{1,30}$/.test(token)) throw new UsageError('token must be a decimal number.');
  return { name, token, typed, reason: text('reason'), now: given.now === true };
}
