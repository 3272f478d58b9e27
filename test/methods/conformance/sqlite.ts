/** Stores in files of a directory that goes with the case, on a simulated clock. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import type { SimulatedClock } from 'holdfast/testkit';
import { type Machine, thisMachine } from '../../../src/clients/sqlite/machine.ts';
import type { SqliteParts } from '../../../src/stores/sqlite/sqlite-store.ts';
import { storeWith } from '../../stores/sqlite/children/store-with.ts';
import { standing } from './standing.ts';
import { type SuiteOptions, simulatedSuite } from './suite.ts';

type Open = (parts?: Partial<SqliteParts>) => Store;

/** The suite on one file, which each connection opens as it likes. */
export function sqliteSuite(
  connect: (open: Open, clock: SimulatedClock) => Store,
  topics?: SuiteOptions['topics'],
): void {
  simulatedSuite({
    open(clock, { maxWaiters }) {
      const directory = mkdtempSync(join(tmpdir(), 'holdfast-'));
      const all = { maxWaiters, clock, machine: machineOn(clock) };
      const open: Open = (parts) => storeWith(join(directory, 'locks.db'), { ...all, ...parts });
      const stand = standing(clock);
      return {
        connect: () => stand(connect(open, clock)),
        dispose: () => rmSync(directory, { recursive: true }),
      };
    },
    traits: sqliteStore('unopened.db').traits,
    lacks: ['raise'],
    topics,
  });
}

/** This machine with another clock, of which no two readings are alike. */
function machineOn(clock: SimulatedClock): Machine {
  let last = 0;
  return {
    ...thisMachine,
    nowUs() {
      last = Math.max(last + 1, Math.round(clock.now() * 1000));
      return last;
    },
  };
}
