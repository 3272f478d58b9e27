import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError } from '../../base/errors.ts';
import { reasonOf, type ServerFacts } from '../../clients/facts/server-facts.ts';
import type { Traits } from '../../contract/store.ts';
import type { AcquireTimeoutError } from '../../core/errors.ts';
import type { Locks } from '../../locks.ts';
import { engineOf } from '../../locks.ts';
import { span } from '../../operators/span.ts';
import { openerOf } from '../../stores/openers.ts';
import { type CliVerb, COMMON } from '../arguments.ts';
import { openLocks, storeUrl } from '../open-locks.ts';
import { plain, print, printJson } from '../output.ts';
import { STATUS, statusOf } from '../process/exit-status.ts';
import { lossText, tableLines } from '../queue-view.ts';

export interface Finding {
  readonly about: string;
  readonly ok: boolean;
  readonly says: string;
  /** What it is about, as a number: how long it took, or lasts, or how far a clock is ahead. */
  readonly ms?: number;
  /** How far `ms` may be off, for a clock. */
  readonly withinMs?: number;
  /** The code of a warning, or of an error. */
  readonly code?: string;
}

export const verb: CliVerb = {
  help: `Usage: holdfast doctor [--store URL] [--json]

Looks at the store as a program would use it, and prints a line for each finding: whether it can be
reached, how long it takes to reply, whether it has lost its memory, whether a lock may be taken
(it takes and releases one of its own, holdfast-doctor), which server and which tables it found,
whether the clocks agree, by whose clock locks end, and what the store warns of.

  --store URL    sqlite:FILE, postgres://HOST, etcd://HOST, …; default $HOLDFAST_STORE or a file
  --json

Exit status: 0 if all is well, 1 if there is something to do, 69, 77 or 78 without a usable store.
`,
  flags: COMMON,
  async run(given) {
    given.atMost(0, '; a store needs --store');
    const hazards = hazardsFromNow();
    const found: Finding[] = [];
    let status = 0;
    try {
      const locks = await openLocks(given, { looks: true });
      // The finding about memory says it.
      locks.on('quarantine', () => {});
      await examine(locks, (finding) => found.push(finding));
      await locks.close();
      found.push(...(await askServer(storeUrl(given, true))));
    } catch (error) {
      status = statusOf(error);
      if (status === STATUS.bug) throw error;
      const { message: says, code } = error as Error & { readonly code?: string };
      found.push({ about: 'store', ok: false, says, ...(code !== undefined && { code }) });
    }
    found.push(...hazards);
    if (status === 0 && found.some(({ ok }) => !ok)) status = STATUS.none;
    if (given.has('json')) await printJson(jsonOf(status, found), status);
    else await print(`${linesOf(found).join('\n')}\n`, status);
    return status;
  },
};

export function jsonOf(status: number, found: readonly Finding[]): object {
  const findings = found.map((one) => {
    return { ...one, ms: tenths(one.ms), withinMs: tenths(one.withinMs) };
  });
  return { ok: status === 0, findings };
}

function tenths(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Number(ms.toFixed(1));
}

export function linesOf(found: readonly Finding[]): readonly string[] {
  return tableLines(found.map(({ about, ok, says }) => [ok ? 'ok' : 'LOOK', about, plain(says)]));
}

/** The lock that doctors take, and no other program: many stores never forget a name. */
const NAME = 'holdfast-doctor';

const LOOKS = 5;

/** How long it waits for a lock that is free, in ms. */
const WAIT_MS = 2_000;

/** @throws LockError if the store cannot be used at all. */
async function examine(locks: Locks, note: (finding: Finding) => void): Promise<void> {
  const { store } = engineOf(locks).services.calls;
  const tookMs: number[] = [];
  let quarantineMs: number | undefined;
  for (let look = 0; look <= LOOKS; look++) {
    const since = performance.now();
    ({ quarantineMs } = await locks.inspect(NAME));
    tookMs.push(performance.now() - since);
  }
  const [first = 0, ...others] = tookMs;
  others.sort((a, b) => a - b);
  const usual = others[others.length >> 1] ?? 0;
  const reached = `${store.name}, reached in ${first.toFixed(1)} ms`;
  note({ about: 'store', ok: true, says: reached, ms: first });
  const latency = `${usual.toFixed(1)} ms, the median of ${LOOKS} looks`;
  note({ about: 'latency', ok: true, says: latency, ms: usual });
  note(memoryFinding(quarantineMs));
  note(await tryLock(locks));
  note({ about: 'clock', ok: true, says: CLOCKS[store.traits.clock] });
}

function memoryFinding(lostMs: number | undefined): Finding {
  const about = 'memory';
  if (lostMs === undefined)
    return { about, ok: true, says: 'the store has lost nothing that still counts' };
  return { about, ok: false, says: `${lossText(lostMs)}; wait for so long`, ms: lostMs };
}

export async function tryLock(locks: Locks): Promise<Finding> {
  const about = 'permissions';
  const since = performance.now();
  try {
    await locks.mutex(NAME).run({ wait: WAIT_MS }, () => {});
  } catch (error) {
    const { why } = error as Partial<AcquireTimeoutError>;
    if (why === 'data-loss') return { about, ok: true, says: 'a lock may be asked for' };
    const another = 'a lock may be asked for; another doctor has it';
    if (why === 'held') return { about, ok: true, says: another };
    if (!isLockError(error, 'ACQUIRE_TIMEOUT')) throw error;
    return { about, ok: false, says: error.message };
  }
  const took = span(performance.now() - since);
  return { about, ok: true, says: `a lock was taken and released in ${took}` };
}

/** How long a server may take to tell about itself, in ms. */
const PATIENCE_MS = 15_000;

/** Over a connection of its own. */
export async function askServer(url: string): Promise<readonly Finding[]> {
  const { opener, scheme, rest } = await openerOf(url);
  try {
    const facts = opener.facts?.(scheme, rest);
    if (!facts) return [{ about: 'server', ok: true, says: UNASKED }];
    return factFindings(await Promise.race([facts, tooLate()]));
  } catch (error) {
    // The locks work, so there is nothing to do.
    return [{ about: 'server', ok: true, says: `tells nothing: ${reasonOf(error)}` }];
  }
}

const UNASKED = 'not asked: only the module that opens the store knows it';

async function tooLate(): Promise<never> {
  await sleep(PATIENCE_MS, undefined, { ref: false });
  throw new Error(`no reply within ${span(PATIENCE_MS)}`);
}

/** From this many ms on, the times that people read mislead them. */
const SKEW_MS = 5_000;

/** From this many ms of doubt on, the figure is given only with it. */
const COARSE_MS = 500;

export function factFindings(facts: ServerFacts): readonly Finding[] {
  const { version, tables, clock, hazards = [] } = facts;
  const findings: Finding[] = [{ about: 'server', ok: true, says: version }];
  for (const says of hazards) findings.push({ about: 'hazard', ok: false, says });
  if (tables) findings.push({ about: 'tables', ok: true, says: `up to date, ${tables}` });
  if (!clock) return findings;
  const { aheadMs, withinMs } = clock;
  const off = Math.abs(aheadMs);
  const agrees = off - withinMs < SKEW_MS;
  const where = `${span(off)} ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  const about = withinMs < COARSE_MS ? '' : `, give or take ${span(withinMs)}`;
  const hint = '; synchronise them: locks do not mind, but ages and dates that you read are wrong';
  const says = `the server's clock is ${where}${about}${agrees ? '' : hint}`;
  return [...findings, { about: 'time', ok: agrees, says, ms: aheadMs, withinMs }];
}

const CLOCKS: Readonly<Record<Traits['clock'], string>> = {
  server: "locks end by the server's clock; what this machine's clock says does not matter",
  machine: "locks end by this machine's clock",
  process: "locks end by each process's own measure of time, whatever the clocks say",
};

/** The warnings of the library from now on, as findings; others are printed as always. */
function hazardsFromNow(): readonly Finding[] {
  const hazards: Finding[] = [];
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning: Error & { readonly code?: string }) => {
    const { name, code = '', message } = warning;
    const hazard = { about: 'hazard', ok: false, says: `${message} (${code})`, code };
    if (name === 'HoldfastWarning') hazards.push(hazard);
    else for (const listener of listeners) listener(warning);
  });
  return hazards;
}
