/** Runs a step on the project in a folder, and sends what it found. */
import { tests } from '../../../../scripts/vitest-step.ts';

const [root = ''] = process.argv.slice(2);
const tally = await tests('timed', 1, undefined, root).run(() => {}, false);
process.send?.(tally, () => process.exit());
