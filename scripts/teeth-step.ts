import { FAULTS } from '../test/teeth/catalogue.ts';
import type { Fault } from '../test/teeth/fault.ts';
import { inTrials } from '../test/teeth/in-trials.ts';
import type { Notice } from '../test/teeth/kinds.ts';
import { notices } from '../test/teeth/noticing.ts';
import { cheapest, readRecord } from '../test/teeth/record.ts';
import type { Trial } from '../test/teeth/trial.ts';
import type { Step } from './steps.ts';

interface Known {
  readonly fault: Fault;
  readonly notice: Notice | undefined;
}

/** Each fault against the test that is known to notice it; `npm run teeth` finds out which. */
export const teethStep: Step = {
  name: 'teeth',
  async run() {
    const record = readRecord();
    const known = FAULTS.map((fault) => ({ fault, notice: cheapest(record.get(fault.name)) }));
    const tries = [soundness(known), ...known.map(noticing)];
    const failed: string[] = [];
    await inTrials(tries, async (trial, look) => {
      const complaint = await look(trial).catch(String);
      if (complaint) failed.push(complaint);
    });
    return { passed: tries.length - failed.length, failed, skipped: [] };
  },
};

/** Looks, and answers what is wrong. */
type Look = (trial: Trial) => Promise<string | undefined>;

/** Tests that fail anyway would notice everything. */
function soundness(known: readonly Known[]): Look {
  return async (trial) => {
    const failed = await trial.fails(known.flatMap(({ notice }) => notice ?? []));
    return failed && `fails with no fault planted: ${JSON.stringify(failed)}`;
  };
}

function noticing({ fault, notice }: Known): Look {
  return async (trial) => {
    if (!notice) return `not tried yet, see npm run teeth: ${fault.name}`;
    const noticed = await trial.with(fault, () => notices(trial, notice));
    return noticed ? undefined : `not noticed: ${fault.name}`;
  };
}
