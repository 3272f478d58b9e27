import { isLockError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import type { Acquisition } from '../../core/events.ts';
import type { Attributes } from './api.ts';

export type NameOf = (resource: string) => string | undefined;

/** Of metrics and spans alike: few values each, whatever the resources are called. */
export function attributesOf(
  { kind, store, resource }: Acquisition,
  nameOf: NameOf | undefined,
): Attributes {
  const known = { 'holdfast.lock.kind': kind, 'holdfast.store': store };
  const name = nameOf && named(resource, nameOf);
  return name === undefined ? known : { ...known, 'holdfast.lock.name': name };
}

/** On a channel of the process nobody catches what a listener throws. */
function named(resource: string, nameOf: NameOf): string | undefined {
  try {
    const name = nameOf(resource);
    return typeof name === 'string' ? name : undefined;
  } catch (error) {
    process.emitWarning(`nameOf failed: ${show(error)}`);
    return undefined;
  }
}

/** As `error.type` has it: one of few. */
export function errorType(error: unknown): string {
  return isLockError(error) ? error.code : '_OTHER';
}
