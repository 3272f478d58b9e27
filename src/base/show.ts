import { inspect } from 'node:util';

/** Enough to recognise a value by. */
const SHORT = { depth: 0, maxArrayLength: 3, maxStringLength: 100, customInspect: false };

/** Any value as text for a message, even one that throws when it is looked at. */
export function show(value: unknown): string {
  try {
    return inspect(value, SHORT);
  } catch {
    return `something that cannot be shown (${typeof value})`;
  }
}
