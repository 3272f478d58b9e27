/**
 * Histories of real processes, judged by our checker and by porcupine:
 * `node --import ./scripts/sources.mjs test/methods/histories/run.ts`.
 * `--store` is one or several of those in suffering.ts, or a control, which has to be found
 * illegal by both: `without-lease`, `without-fence`. Default: all of them. `--operations` is how
 * many of each have to be answered, of slow ones a fifth; `--length` how many a history has at
 * least (default: a twentieth of that, but 2,000), `--beside` how many stores are at it at once,
 * `--seed` the first.
 */
import { parseArgs } from 'node:util';
import { setup } from '../../support/pace.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true },
    operations: { type: 'string', default: '100000' },
    length: { type: 'string' },
    beside: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
  },
});

// Leases are as long as this machine needs them, which is asked for when modules are loaded.
await setup();
const { gatherAll } = await import('./gather.ts');
const operations = Number(values.operations);
const right = await gatherAll(values.store, {
  operations,
  length: Number(values.length ?? Math.max(2_000, operations / 20)),
  beside: Number(values.beside),
  seed: Number(values.seed),
});
process.exitCode = right ? 0 : 1;
