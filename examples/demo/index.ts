/**
 * Four processes sell 200 items, also while some are killed and stopped; then two of four lead.
 *
 * They sell from one stock table: without a lock, with a mutex, and with mutex and fence while
 * holders are killed and stopped. Then four workers share two seats.
 *
 * `npm run demo [-- --store URL]`. Ends with status 0 if every round came out as it has to.
 */
import * as screen from '../shared/screen.ts';
import { openSharedStage } from '../shared/stage.ts';
import { electWorkers } from './election-round.ts';
import type { Outcome } from './outcome.ts';
import { sellWithFence, sellWithMutex, sellWithoutLock } from './sale-rounds.ts';
import { ITEMS } from './shop.ts';

const stage = openSharedStage();
const since = performance.now();
screen.say('', `Four processes sell ${ITEMS} items from one stock table in a SQLite database.`);
const outcomes: Outcome[] = [];
for (const round of [sellWithoutLock, sellWithMutex, sellWithFence, electWorkers]) {
  outcomes.push(await round(stage));
}
summarize(outcomes);

function summarize(all: readonly Outcome[]): void {
  const seconds = ((performance.now() - since) / 1000).toFixed(0);
  screen.heading(`Summary, after ${seconds} s`);
  const rows = all.map(({ round, result, good }) => [
    ...[round, good ? screen.good(result) : screen.bad(result)],
  ]);
  screen.say(...screen.table(['', ''], rows), '');
  if (all.every(({ good }) => good)) return;
  screen.say(screen.bad('This is not how it should be: see above.'), '');
  process.exitCode = 1;
}
