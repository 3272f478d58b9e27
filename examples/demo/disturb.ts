/**
 * What happens to sellers in the third sale, always at the same point of their work: a seller is
 * told to wait between its read and its write and says so; only then is it killed or stopped. That
 * its TTL is over is not measured but seen: another seller has sold, under a later token.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as screen from '../shared/screen.ts';
import type { SaleRound } from './sale-round.ts';

/** What came of the stopped seller. */
export interface StaleWrite {
  /** The token of its lost lock. */
  readonly token: bigint;
  /** What its write was refused with; undefined if it was not. */
  readonly error: string | undefined;
  /** The token of the fence; that of a later holder. */
  readonly seen: bigint | undefined;
}

/** Several TTLs, and less than others wait for a database that is blocked, in ms. */
const STOP_MS = 3000;
const MAX_STOPS = 10;

/** Long enough to finish a transaction, in ms. */
const TRANSACTION_MS = 100;

export async function killOne(round: SaleRound, name: string): Promise<void> {
  const token = await pause(round, name);
  const { pid } = round.seller(name);
  round.crew.signal(name, 'SIGKILL');
  const since = performance.now();
  screen.say(`${name} (pid ${pid}) is killed between its read and its write: SIGKILL`);
  await round.crew.until('another seller has taken over', () => overtaken(round, token));
  const { latest } = round;
  const how = `the hold before it ${latest?.takeover ?? ''}`;
  screen.say(`${latest?.name ?? ''} takes over after ${seconds(since)}; ${how}`);
  round.seller(name).fate = 'killed';
}

export async function stopOne(round: SaleRound, name: string): Promise<StaleWrite> {
  const token = await pause(round, name);
  const seller = round.seller(name);
  const since = performance.now();
  screen.say(`${name} (pid ${seller.pid}) is stopped between its read and its write: SIGSTOP`);
  await stopUntilOvertaken(round, name, token);
  const stopped = seconds(since);
  screen.say(`${round.latest?.name ?? ''} has the lock after ${stopped} and sells`);
  const { sold } = seller;
  round.crew.order(name, 'go on');
  round.crew.signal(name, 'SIGCONT');
  const decided = (): boolean => seller.refusal !== undefined || seller.sold > sold;
  await round.crew.until(`${name} has tried to write`, decided);
  const { refusal } = seller;
  const answer = refusal ? `refused with ${screen.paint('bold', refusal.error)}` : 'accepted';
  screen.say(
    `${name} is resumed (SIGCONT) and writes what follows from its old read`,
    `    ${answer}`,
    `    its token          ${token}`,
    `    seen by the fence  ${refusal?.seen ?? 'nothing newer'}`,
  );
  seller.fate = `stopped for ${stopped}; its late write was ${refusal ? 'refused' : 'accepted'}`;
  return { token, error: refusal?.error, seen: refusal?.seen };
}

/** Has the seller wait between the read and the write of its next sale; the token of its lock. */
async function pause(round: SaleRound, name: string): Promise<bigint> {
  const seller = round.seller(name);
  round.crew.order(name, 'pause');
  const waits = (): boolean => seller.between !== undefined;
  await round.crew.until(`${name} is between its read and its write`, waits);
  return seller.between?.token ?? 0n;
}

/**
 * A process that is stopped in the middle of a transaction, as a heartbeat is one, blocks all
 * others, because SQLite has one writer at a time: then it is continued and stopped again.
 */
async function stopUntilOvertaken(round: SaleRound, name: string, token: bigint): Promise<void> {
  for (let tries = 0; tries < MAX_STOPS; tries++) {
    round.crew.signal(name, 'SIGSTOP');
    if (await round.crew.within(STOP_MS, () => overtaken(round, token))) return;
    round.crew.signal(name, 'SIGCONT');
    await sleep(TRANSACTION_MS);
  }
  throw new Error(`No one has taken over from ${name}.`);
}

function overtaken({ latest }: SaleRound, token: bigint): boolean {
  return latest?.token !== undefined && latest.token > token;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
