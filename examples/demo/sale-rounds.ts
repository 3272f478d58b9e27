/** The same sale three times: without a lock, with a mutex, with mutex and fence under fire. */

import * as screen from '../shared/screen.ts';
import type { Stage } from '../shared/stage.ts';
import { killOne, type StaleWrite, stopOne } from './disturb.ts';
import type { Outcome } from './outcome.ts';
import { type SaleOptions, SaleRound } from './sale-round.ts';
import { ITEMS, type Takings } from './shop.ts';

/** Long, so that no pause of a busy machine loses a lock that nothing but itself protects. */
const CALM_TTL_MS = 10_000;
/** Short, because the demo waits until it has run out. */
const SHORT_TTL_MS = 1000;

const THINK_MS = 10;
const LONG_THINK_MS = 50;

const CAN_STOP = process.platform !== 'win32';

export async function sellWithoutLock(stage: Stage): Promise<Outcome> {
  screen.heading('1  Without a lock: read the stock, think for a moment, write it less one');
  const unlocked = { stage, protection: 'none', ttlMs: CALM_TTL_MS } as const;
  let over = await sellUnlocked({ ...unlocked, name: 'bare', thinkMs: THINK_MS });
  if (over === 0) {
    screen.say('', 'By chance this went well. Once more, with sellers who think for longer.', '');
    over = await sellUnlocked({ ...unlocked, name: 'bare-again', thinkMs: LONG_THINK_MS });
  }
  screen.say('', 'Who reads while another thinks sells the same item, and one write is lost.');
  const sold = `${ITEMS + over} of ${ITEMS} sold`;
  const result = over > 0 ? `${sold}: oversold by ${over}` : `${sold}: the race did not show`;
  return { round: 'without a lock', result, good: over > 0 };
}

export async function sellWithMutex(stage: Stage): Promise<Outcome> {
  screen.heading('2  With a mutex: the same three steps, one seller at a time');
  const round = await SaleRound.open({
    ...{ stage, name: 'mutex', protection: 'mutex', ttlMs: CALM_TTL_MS, thinkMs: THINK_MS },
  });
  const takings = await round.close();
  const good = isExact(takings);
  screen.say(...round.table(takings, verdict(takings)));
  screen.say('', 'No seller reads before the one before it has written.');
  return { round: 'with a mutex', result: describe(takings), good };
}

/** The mutex cannot stop a process that does not know that its lock is lost; the fence can. */
export async function sellWithFence(stage: Stage): Promise<Outcome> {
  screen.heading('3  With mutex and fence, while one holder is killed and another one stopped');
  const round = await SaleRound.open({
    ...{ stage, name: 'fence', protection: 'fence', ttlMs: SHORT_TTL_MS, thinkMs: THINK_MS },
  });
  await round.crew.until('some items are sold', () => round.sold >= ITEMS * 0.3);
  await killOne(round, 'seller 2');
  await round.crew.until('more items are sold', () => round.sold >= ITEMS * 0.6);
  const stale = CAN_STOP ? await stopOne(round, 'seller 3') : undefined;
  if (!CAN_STOP) screen.say('Skipped: no seller is stopped, for this system has no SIGSTOP.');
  const takings = await round.close();
  screen.say(...round.table(takings, verdict(takings)));
  screen.say(
    '',
    'A lock cannot stop a holder who does not know that it is lost. The fence can:',
    'it is in the shop, and refuses every token older than the newest.',
  );
  return summary(takings, stale);
}

/** Sells, shows the table; how many were sold too many. */
async function sellUnlocked(options: SaleOptions): Promise<number> {
  const round = await SaleRound.open(options);
  const takings = await round.close();
  const over = takings.sales - ITEMS;
  const count = `oversold by ${over}; ${takings.soldTwice} items sold more than once`;
  const result = over > 0 ? screen.bad(count) : describe(takings);
  screen.say(...round.table(takings, result));
  return over;
}

function summary(takings: Takings, stale: StaleWrite | undefined): Outcome {
  const round = 'with mutex and fence';
  const result = describe(takings);
  if (!stale) return { round, result: `${result}; SIGSTOP skipped`, good: isExact(takings) };
  const { token, error, seen } = stale;
  const refused = error === 'StaleTokenError' && seen !== undefined && seen > token;
  return {
    round,
    result: `${result}; the stale write was ${refused ? 'refused' : 'not refused'}`,
    good: isExact(takings) && refused,
  };
}

function isExact({ sales, left, soldTwice }: Takings): boolean {
  return sales === ITEMS && left === 0 && soldTwice === 0;
}

function describe(takings: Takings): string {
  const { sales, left, soldTwice } = takings;
  const sold = `${sales} of ${ITEMS} sold`;
  if (isExact(takings)) return `${sold}: exact`;
  return `${sold}: not exact, ${soldTwice} more than once, ${left} left`;
}

function verdict(takings: Takings): string {
  return isExact(takings) ? screen.good('exact') : screen.bad(describe(takings));
}
