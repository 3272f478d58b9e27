/**
 * Fuzzes the public API: `npm run fuzz -- --calls 1000000 --seed 1`. What goes wrong is shrunk and
 * printed with the command that plays it again.
 */
import { runFuzz } from '../test/methods/fuzz/run.ts';

process.exitCode = (await runFuzz(process.argv.slice(2))) ? 0 : 1;
