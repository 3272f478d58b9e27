import { inspect } from 'node:util';

/** Enough to recognise a value by. */
const SHORT = { depth: 0, maxArrayLength: 3, maxStringLength: 100, customInspect: false };

/** Any value as text for a message. */
export function show(value: unknown): string {
  return inspect(value, SHORT);
}
