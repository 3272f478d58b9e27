/** Runs the timed step of the project in a folder, and sends what it found. */
import { timedVitestStep } from '../../../../scripts/vitest-step.ts';

const [root = '', memory = ''] = process.argv.slice(2);
const tally = await timedVitestStep('timed', { root, memory }).run();
process.send?.(tally, () => process.exit());
