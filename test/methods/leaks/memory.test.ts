import { memoryStore } from 'holdfast/memory';
import { leakTests } from './leaks.ts';

leakTests('memory', () => {
  const store = memoryStore();
  return { open: () => store, url: 'memory:', connects: 10_000, close: () => {} };
});
