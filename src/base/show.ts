import { inspect } from 'node:util';

/** Enough to recognise a value by. */
const SHORT = { depth: 0, maxArrayLength: 3, maxStringLength: 100, customInspect: false };

/** Any value as text for a message. */
export function show(value: unknown): string {
  return inspect(value, SHORT);
}

/** JSON has no numbers beyond a double's: tokens, which are `bigint`s, become text in it. */
const TO_JSON: PropertyDescriptor & ThisType<object> = {
  configurable: true,
  value() {
    return asJson(this);
  },
};

/** For `JSON.stringify`, which throws at a `bigint`. The property is not enumerable. */
export function withJson<T extends object>(value: T): T {
  return Object.defineProperty(value, 'toJSON', TO_JSON);
}

export function asJson(value: object): unknown {
  const plain = (_: string, part: unknown) => (typeof part === 'bigint' ? String(part) : part);
  return JSON.parse(JSON.stringify({ ...value }, plain));
}
