import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError } from '../../base/errors.ts';
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import type { Traits } from '../../contract/store.ts';
import type { AcquireTimeoutError } from '../../core/errors.ts';
import type { Locks } from '../../locks.ts';
import { engineOf } from '../../locks.ts';
import { span } from '../../operators/span.ts';
import { openerOf } from '../../stores/openers.ts';
import { COMMON, misuse } from '../arguments.ts';
import { openLocks, storeUrl } from '../open-locks.ts';
import { print, printJson } from '../output.ts';
import { STATUS, statusOf } from '../process/exit-status.ts';
import { lossText, tableLines } from '../queue-view.ts';
import { plain, quote } from '../text.ts';
import type { Verb } from './verb.ts';

const HELP = `Usage: holdfast doctor [--store URL] [--json]

Looks at the store as a program would use it, and prints a line for each finding: whether it can be
reached, how long it takes to reply, whether it has lost its memory, whether a lock may be taken
(it takes and releases one of its own), which server and which tables it found, whether the clocks
agree, by whose clock locks end, and what the store warns of.

  --store URL    sqlite:FILE, postgres://HOST, etcd://HOST, …; default $HOLDFAST_STORE or a file
  --json

Exit status: 0 if all is well, 1 if there is something to do, 69, 77 or 78 without a usable store.
`;

export interface Finding {
  readonly about: string;
  readonly ok: boolean;
  readonly says: string;
}

export const verb: Verb = {
  help: HELP,
  flags: COMMON,
  async run(given) {
    const word = given.atMostOne();
    if (word !== undefined)
      throw misuse(`${quote(word)} is one word too many; a store needs --store`);
    const warnings = warningsFromNow();
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
      found.push({ about: 'store', ok: false, says: (error as Error).message });
    }
    for (const { code, message } of warnings) {
      found.push({ about: 'hazard', ok: false, says: `${message} (${code})` });
    }
    if (status === 0 && found.some(({ ok }) => !ok)) status = STATUS.none;
    if (given.has('json')) await printJson({ ok: status === 0, findings: found }, status);
    else await print(`${tableLines(found.map(cells)).join('\n')}\n`, status);
    return status;
  },
};

function cells({ about, ok, says }: Finding): string[] {
  return [ok ? 'ok' : 'LOOK', about, plain(says)];
}

/** The name of the lock that it takes; nobody else asks for it. */
const nameOfOwn = (): string => `holdfast-doctor:${randomUUID()}`;

const LOOKS = 5;

/** How long it waits for a lock that is free, in ms. */
const WAIT_MS = 2_000;

/** @throws LockError if the store cannot be used at all. */
async function examine(locks: Locks, note: (finding: Finding) => void): Promise<void> {
  const { store } = engineOf(locks).services.calls;
  const name = nameOfOwn();
  const tookMs: number[] = [];
  let quarantineMs: number | undefined;
  for (let look = 0; look <= LOOKS; look++) {
    const since = performance.now();
    ({ quarantineMs } = await locks.inspect(name));
    tookMs.push(performance.now() - since);
  }
  const [first = 0, ...others] = tookMs;
  others.sort((a, b) => a - b);
  const usual = others[others.length >> 1] ?? 0;
  note({ about: 'store', ok: true, says: `${store.name}, reached in ${first.toFixed(1)} ms` });
  note({
    about: 'latency',
    ok: true,
    says: `${usual.toFixed(1)} ms, the median of ${LOOKS} looks`,
  });
  note(
    quarantineMs === undefined
      ? { about: 'memory', ok: true, says: 'the store has lost nothing that still counts' }
      : { about: 'memory', ok: false, says: `${lossText(quarantineMs)}; wait for so long` },
  );
  note(await tryLock(locks, name));
  note({ about: 'clock', ok: true, says: CLOCKS[store.traits.clock] });
}

async function tryLock(locks: Locks, name: string): Promise<Finding> {
  const about = 'permissions';
  const since = performance.now();
  try {
    await locks.mutex(name).run({ wait: WAIT_MS }, () => {});
  } catch (error) {
    const lost = (error as Partial<AcquireTimeoutError>).why === 'data-loss';
    if (lost) return { about, ok: true, says: 'a lock may be asked for' };
    if (!isLockError(error, 'ACQUIRE_TIMEOUT')) throw error;
    return { about, ok: false, says: error.message };
  }
  const took = span(performance.now() - since);
  return { about, ok: true, says: `a lock was taken and released in ${took}` };
}

/** How long a server may take to tell about itself, in ms. */
const PATIENCE_MS = 5_000;

/** Over a connection of its own. */
async function askServer(url: string): Promise<readonly Finding[]> {
  const { opener, scheme, rest } = await openerOf(url);
  try {
    const facts = opener.facts?.(scheme, rest);
    return facts ? factFindings(await Promise.race([facts, tooLate()])) : [];
  } catch (error) {
    // The locks work, so there is nothing to do.
    return [{ about: 'server', ok: true, says: `tells nothing: ${(error as Error).message}` }];
  }
}

async function tooLate(): Promise<never> {
  await sleep(PATIENCE_MS, undefined, { ref: false });
  throw new Error(`no reply within ${span(PATIENCE_MS)}`);
}

/** From so many ms on, what people read of times misleads them. */
const SKEW_MS = 5_000;

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
  const advice =
    '; synchronise them: locks do not mind, but ages and dates that you read are wrong';
  const says = `the server's clock is ${where}${agrees ? '' : advice}`;
  return [...findings, { about: 'time', ok: agrees, says }];
}

const CLOCKS: Readonly<Record<Traits['clock'], string>> = {
  server: "locks end by the server's clock; what this machine's clock says does not matter",
  machine: "locks end by this machine's clock",
  process: "locks end by each process's own measure of time, whatever the clocks say",
};

interface Warned {
  readonly code: string;
  readonly message: string;
}

/** The warnings of the library from now on; others are printed as always. */
function warningsFromNow(): readonly Warned[] {
  const warned: Warned[] = [];
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning: Error & { readonly code?: string }) => {
    const { name, code = '', message } = warning;
    if (name === 'HoldfastWarning') warned.push({ code, message });
    else for (const listener of listeners) listener(warning);
  });
  return warned;
}
