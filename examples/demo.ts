/**
 * `npm run demo [-- --store URL]`: four processes sell 200 items from one stock table, without a
 * lock, with a mutex, and with mutex and fence while holders are killed and stopped; then four
 * workers share two seats. Ends with status 0 if every round came out as it has to.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { killAll } from './demo/crew.ts';
import { electWorkers } from './demo/election-round.ts';
import type { Outcome } from './demo/outcome.ts';
import { sellWithFence, sellWithMutex, sellWithoutLock } from './demo/sale-rounds.ts';
import * as screen from './demo/screen.ts';
import { ITEMS } from './demo/shop.ts';

const { values } = parseArgs({ options: { store: { type: 'string' } } });
const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
process.once('exit', () => {
  screen.close();
  killAll();
  // Those who were killed may take a moment to let go of their files.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

const store = values.store ?? `sqlite:${join(folder, 'locks.db')}`;
const stage = { folder, store, prefix: `${basename(folder)}:` };
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
