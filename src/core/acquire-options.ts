/** The options of a single acquisition, and their checks. */
import { type Duration, duration } from '../base/duration.ts';
import { UsageError } from '../base/errors.ts';
import { asGiven, type Checks, checkOptions, noWork, oneOf, text } from '../base/options.ts';
import type { ClaimStatus, GoneStatus } from '../contract/store.ts';
import type { Sender } from '../store-calls/batcher.ts';
import type { Acquisition } from './events.ts';
import type { IfBusy } from './newest.ts';

/** Where the caller of this function of ours asked, for an error that comes much later. */
export function siteBelow(own: (...args: never[]) => unknown): { readonly stack?: string } {
  const site = {};
  Error.captureStackTrace(site, own);
  return site;
}

/** Options of a single acquisition. */
export interface AcquireOptions {
  /**
   * Give up after this long, with `AcquireTimeoutError`. Default: wait until granted or aborted.
   */
  readonly wait?: Duration | undefined;
  /** Ends the wait; it rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /** Semaphores only: permits to take; default 1. */
  readonly permits?: number | undefined;
  /** Shown to people who inspect the queue; default the label of `createLocks`. */
  readonly label?: string | undefined;
  /**
   * For `run` and `acquire`: only the newest request matters, of those with this option. If the
   * lock is not free, `replace-waiting` ends the waits of earlier ones, and `replace` their leases
   * as well; they reject with `LeaseLostError`, reason `replaced`. Default: it waits for all.
   */
  readonly ifBusy?: IfBusy | undefined;
  /** @internal Set while there are listeners. */
  readonly acquisition?: Acquisition;
  /** @internal Where it was asked for, if that is known. */
  readonly site?: { readonly stack?: string };
  /** @internal For a candidate in an election, whose wait has no end that one could warn of. */
  readonly standby?: true;
  /** @internal Called with the store's reply before a try resolves with null. */
  readonly refused?: (status: GoneStatus) => void;
  /** @internal How its claim begins. */
  readonly entering?: Sender<ClaimStatus>;
}

type Acquiring = Pick<AcquireOptions, 'wait' | 'signal' | 'label'>;

export const ACQUISITION: Checks<Acquiring, keyof Acquiring> = {
  wait: duration(),
  signal: checkSignal,
  label: text,
};

const ACQUIRE = { ...ACQUISITION, permits: asGiven<number | undefined>, ifBusy: checkIfBusy };

/** No options: reading them would take a tenth of a hand-off's time. */
export const NO_OPTIONS: AcquireOptions = Object.freeze({});

/** @throws UsageError for wrong options. */
export function readAcquire(options: AcquireOptions): AcquireOptions {
  if (options === NO_OPTIONS) return options;
  type Internal = 'acquisition' | 'site' | 'standby' | 'refused' | 'entering';
  type Public = Omit<AcquireOptions, Internal>;
  return checkOptions<Public, typeof ACQUIRE>(noWork(options), ACQUIRE, 'an acquisition');
}

export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  throw new UsageError('signal must be an AbortSignal.');
}

const eitherWay = oneOf('replace-waiting', 'replace');

function checkIfBusy(given: IfBusy | undefined, name: string): IfBusy | undefined {
  return given === undefined ? given : eitherWay(given, name);
}
