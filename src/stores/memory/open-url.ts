import { UsageError } from '../../base/errors.ts';
import type { Store } from '../../contract/store.ts';
import { memoryStore } from './index.ts';

/** @throws UsageError */
export function openUrl(_scheme: string, rest: string): Store {
  if (rest !== '') throw new UsageError(`'memory:' takes nothing after the colon.`);
  return memoryStore();
}
