/**
 * `npm run teeth -- [words]`: plants each fault of test/methods/teeth, or those with one of the
 * words in their names, and runs the test or the seeds that the fault names. Fails if they do not
 * notice the fault, or fail with none planted, or if no fault has such a name.
 *
 * Nothing is remembered from run to run, and nothing is asked again until it gives the answer that
 * one wants.
 */
import { availableParallelism } from 'node:os';
import { FAULTS } from '../test/methods/teeth/catalogue.ts';
import type { Fault } from '../test/methods/teeth/fault.ts';
import { inTrials } from '../test/methods/teeth/in-trials.ts';
import { notices } from '../test/methods/teeth/noticing.ts';
import type { Trial } from '../test/methods/teeth/trial.ts';

/**
 * Most tests on servers wait more than they work: so many copies of the project a core. What hangs
 * only waits until it is given up, so that it has copies of its own, whatever the cores do.
 */
const COPIES_A_CORE = 3;
const COPIES_FOR_HANGS = 3;

// Each copy's test runner listens for the end of this process.
process.setMaxListeners(0);

const words = process.argv.slice(2);
const chosen = FAULTS.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
const groups = byFile(chosen);
const all = groups.length + chosen.length;
let [done, failed] = [0, 0];
await Promise.all([
  inTrials(groups.filter(hangs), COPIES_FOR_HANGS, look),
  inTrials(
    groups.filter((group) => !hangs(group)),
    COPIES_A_CORE * availableParallelism(),
    look,
  ),
]);
say(`${done - failed} passed, ${failed} failed\n`);
process.exit(failed === 0 && done > 0 ? 0 : 1);

/** Tests that fail anyway would notice everything. */
async function look(trial: Trial, group: readonly Fault[]): Promise<void> {
  await judge(`sound: ${group[0]?.by.file ?? 'the simulation'}`, async () => {
    const unsound = await trial.fails(group.map(({ by }) => by));
    return unsound && `fails with no fault planted: ${JSON.stringify(unsound)}`;
  });
  for (const fault of group) {
    const { name, by } = fault;
    await judge(name, async () => {
      const noticed = await trial.with(fault, () => notices(trial, by));
      return noticed ? undefined : `not noticed: ${name}, by ${JSON.stringify(by)}`;
    });
  }
}

/** @param find answers the complaint, if there is one. */
async function judge(name: string, find: () => Promise<string | undefined>): Promise<void> {
  const complaint = await find().catch((error) => `${name}: ${error}`);
  done += 1;
  if (complaint) {
    failed += 1;
    say(`✗ ${complaint}\n`);
  }
  if (process.stdout.isTTY) say(`  ${done} of ${all}, ${failed} failed`);
}

/** On a terminal, its last line says how far it is. */
function say(text: string): void {
  process.stdout.write(process.stdout.isTTY ? `\r\u001b[K${text}` : text);
}

/**
 * What one file notices goes into one copy, which has loaded it then; but not what hangs, while
 * all else would wait. The largest first, so that no copy is left alone with them at the end.
 */
function byFile(faults: readonly Fault[]): Fault[][] {
  const groups = new Map<string, Fault[]>();
  for (const fault of faults) {
    const key = `${fault.by.file} ${fault.by.hung}`;
    groups.set(key, [...(groups.get(key) ?? []), fault]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

function hangs(group: readonly Fault[]): boolean {
  return group.some(({ by }) => by.hung);
}
