/**
 * The clock that all processes of a machine share, and how they know that it is the same one.
 *
 * The store's clock is the kernel's monotonic one: no step of the wall clock moves it, and every
 * process reads the same value. It stands still while the machine is suspended, but then so do all
 * holders, and their leases count the suspended time, so a lease never outlives its claim. Its
 * readings mean nothing after a reboot, which is told by the kernel's boot id. Where there is none,
 * the boot's wall-clock time is estimated instead, which a step of the wall clock may disturb.
 * What would break it: two processes whose clocks differ, as in two Linux time namespaces, or in a
 * runtime whose clock begins with the process: each would take the claims of others for dead.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import { StoreError } from '../../errors.ts';

/** Time as one machine tells it, in µs; tests pass their own. */
export interface Machine {
  /** The same in every process of the machine; it only grows until the next boot. */
  nowUs(): number;
  wallUs(): number;
  /** Wall clock of the boot, as estimated. */
  bootedUs(): number;
  /** `boot`: empty where the system has no name for it. */
  identity(): { readonly boot: string; readonly timeSpace: string };
}

export const thisMachine: Machine = {
  nowUs: () => Number(process.hrtime.bigint() / 1000n),
  wallUs: () => Date.now() * 1000,
  bootedUs: () => Math.round(Date.now() * 1000 - uptime() * 1e6),
  identity: () => ({
    boot: orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    timeSpace: orEmpty(() => readlinkSync('/proc/self/ns/time')),
  }),
};

const OWN_CLOCK: Readonly<Record<string, string>> = { bun: 'Bun', deno: 'Deno' };

/** @throws StoreError if this runtime has no clock that all processes of the machine share. */
export function refuseOwnClock(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): void {
  const runtime = Object.keys(OWN_CLOCK).find((name) => versions[name] !== undefined);
  if (!runtime) return;
  throw new StoreError(
    `The clock of ${OWN_CLOCK[runtime]} begins anew with each process, so two of them cannot agree` +
      ' on when a lock in a file ends, and both would be granted it. Run this with Node, or take' +
      ' memoryStore() for locks inside this process.',
    { retryable: false, outcome: 'failed' },
  );
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
