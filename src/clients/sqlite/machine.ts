/**
 * The clock that all processes of a machine share, and how they know that it is the same one.
 *
 * The store's clock is the kernel's monotonic one: no step of the wall clock moves it, and every
 * process reads the same value. It stands still while the machine is suspended, but then so do all
 * holders, and their leases count the suspended time, so a lease never outlives its claim. Its
 * readings mean nothing after a reboot, which the kernel's boot id shows. Without one, this file
 * estimates the boot's wall-clock time instead, which a step of the wall clock may disturb.
 * What would break it: two processes whose clocks differ, as in two Linux time namespaces.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import { messageOf } from '../../base/errors.ts';
import { permanentFailure } from '../../contract/errors.ts';
import { monotonicClock } from './monotonic.ts';

/** The clocks of one machine, in µs; tests pass their own. */
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
  nowUs: monotonicClock(),
  wallUs: () => Date.now() * 1000,
  bootedUs: () => Math.round(Date.now() * 1000 - uptime() * 1e6),
  identity: () => ({
    boot: orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    timeSpace: orEmpty(() => readlinkSync('/proc/self/ns/time')),
  }),
};

/**
 * Empty where the system has no such name. A name that only this process may not read is an error:
 * to the others it would look like another boot, and void all claims.
 * @throws StoreError
 */
export function orEmpty(read: () => string): string {
  try {
    return read();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    const said = messageOf(cause);
    throw permanentFailure(
      `The machine that shares the lock database is unknown: ${said}. Let this process read` +
        ' it; Deno needs --allow-all for that.',
      cause,
    );
  }
}
