import { availableParallelism } from 'node:os';
import { FAULTS } from '../test/methods/teeth/catalogue.ts';
import type { Fault } from '../test/methods/teeth/fault.ts';
import { inTrials } from '../test/methods/teeth/in-trials.ts';
import { KINDS, type Notice } from '../test/methods/teeth/kinds.ts';
import { notices } from '../test/methods/teeth/noticing.ts';
import { cheapest, readRecord } from '../test/methods/teeth/record.ts';
import { Trial } from '../test/methods/teeth/trial.ts';
import { ASKED_AGAIN, askedTooOften, MOST_ASKED_AGAIN } from './asked-again.ts';
import type { Step, Tally } from './steps.ts';

/** Looks, and answers what is wrong. */
type Look = (trial: Trial) => Promise<string | undefined>;

interface Wrong {
  readonly each: Look;
  readonly complaint: string;
}

interface Known {
  readonly fault: Fault;
  readonly notice: Notice | undefined;
  /** Of the kind of run. */
  readonly cost: number;
}

/**
 * Most tests on servers wait more than they work: so many copies of the project a core. What hangs
 * does nothing but wait, until it is given up: that has copies of its own, whatever the cores do.
 * Two are enough to end before the others, and more would take the cores while all start.
 */
const COPIES_A_CORE = 2;
const COPIES_FOR_HANGS = 2;

/** How the test that notices a fault counts time. What is on no clock can give way. */
export type Pace = 'on real clocks' | 'on no clock';

/** Each fault against the test that is known to notice it; `npm run teeth` finds out which. */
export function teethStep(pace: Pace): Step {
  const name = `teeth ${pace}`;
  return {
    name,
    async run() {
      const known = await knownFaults(pace);
      const hangs = known.filter(({ notice }) => notice?.hung).map(noticing);
      const others = known.filter(({ notice }) => !notice?.hung).map(noticing);
      const tries = [...soundness(known), ...others];
      const wrong: Wrong[] = [];
      const look = async (trial: Trial, each: Look): Promise<void> => {
        const complaint = await each(trial).catch(String);
        if (complaint) wrong.push({ each, complaint });
      };
      await Promise.all([
        inTrials(hangs, COPIES_FOR_HANGS, look),
        inTrials(tries, COPIES_A_CORE * availableParallelism(), look),
      ]);
      const looks = tries.length + hangs.length;
      const { failed, onlyAlone } = await askAgain(name, wrong);
      return { passed: looks - failed.length, failed, onlyAlone, skipped: [] };
    },
  };
}

/**
 * Where the machine stands still, locks on real clocks end, and a test gives up the process that it
 * has started: so at each pace, a few are asked again, one at a time, as failed tests are.
 */
async function askAgain(
  step: string,
  wrong: readonly Wrong[],
): Promise<Required<Pick<Tally, 'failed' | 'onlyAlone'>>> {
  const all = wrong.map(({ complaint }) => complaint);
  if (wrong.length > MOST_ASKED_AGAIN) return { failed: all, onlyAlone: [] };
  const failed: string[] = [];
  await inTrials(wrong, 1, async (trial, { each, complaint }) => {
    if (await each(trial).catch(String)) failed.push(complaint);
  });
  const onlyAlone = all.filter((complaint) => !failed.includes(complaint));
  return { failed: [...failed, ...askedTooOften(ASKED_AGAIN, step, onlyAlone)], onlyAlone };
}

/** The dearest first, so that no copy is left alone with them at the end. */
async function knownFaults(pace: Pace): Promise<Known[]> {
  const record = readRecord();
  const known = FAULTS.map((fault): Known => {
    const all = record.get(fault.name);
    const notice = cheapest(all);
    return { fault, notice, cost: KINDS.findIndex((kind) => all?.[kind] === notice) };
  });
  const trial = await Trial.open();
  const isTimed = ({ notice }: Known): boolean => notice !== undefined && trial.isTimed(notice);
  const chosen = known.filter((each) => isTimed(each) === (pace === 'on real clocks'));
  await trial.close();
  return chosen.sort((a, b) => b.cost - a.cost);
}

/** Tests that fail anyway would notice everything: each file, with no fault planted. */
function soundness(known: readonly Known[]): Look[] {
  const all = known.flatMap(({ notice }) => notice ?? []);
  return [...new Set(all.map(({ file }) => file))].map((file) => async (trial) => {
    const group = all.filter((notice) => notice.file === file);
    // Twice: the machine may have stood still.
    const failed = (await trial.fails(group)) && (await trial.fails(group));
    return failed && `fails with no fault planted: ${JSON.stringify(failed)}`;
  });
}

function noticing({ fault, notice }: Known): Look {
  return async (trial) => {
    if (!notice) return `not tried yet, see npm run teeth: ${fault.name}`;
    const noticed = await trial.with(fault, () => notices(trial, notice));
    return noticed ? undefined : `not noticed: ${fault.name}`;
  };
}
