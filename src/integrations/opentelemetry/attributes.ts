import { isLockError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import type { Acquisition } from '../../core/events.ts';
import type { Attributes } from './api.ts';

export type NameOf = (resource: string) => string | undefined;

/** For metrics and spans alike: few values each, whatever the names of resources. */
export function attributesOf(
  { kind, store, resource }: Acquisition,
  nameOf: NameOf | undefined,
): Attributes {
  const known = { 'holdfast.lock.kind': kind, 'holdfast.store': store };
  const name = nameOf && named(resource, nameOf);
  return name === undefined ? known : { ...known, 'holdfast.lock.name': name };
}

/** An error in a listener of a channel would be an uncaught exception. */
function named(resource: string, nameOf: NameOf): string | undefined {
  try {
    const name = nameOf(resource);
    return typeof name === 'string' ? name : undefined;
  } catch (error) {
    process.emitWarning(`nameOf failed: ${show(error)}`);
    return undefined;
  }
}

/** The value of `error.type`: one of few. */
export function errorType(error: unknown): string {
  return isLockError(error) ? error.code : '_OTHER';
}
