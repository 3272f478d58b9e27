import type { Traits } from '../../contract/store.ts';
import type { DocumentLife } from './life.ts';

/** Without a common clock, a process that has just come takes a dead holder for a live one. */
export function traitsOf(clock: DocumentLife['clock']): Traits {
  return {
    queue: true,
    permits: true,
    tokens: 'document',
    atomicTry: clock === 'service',
    clock: clock === 'service' ? 'server' : 'process',
    failover: 'linearizable',
    reach: 'network',
    records: true,
    sequential: true,
  };
}
