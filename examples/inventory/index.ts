/**
 * Four processes sell one stock in five ways: no lock, row lock, version column, mutex, and mutex
 * with fence.
 *
 * Each way is tried twice. First all sell as fast as they can, which shows what it costs. Then one
 * seller stands still between its read and its write, for longer than the lock lasts, which shows
 * what it is worth: a mutex alone cannot stop what that seller writes when it goes on.
 *
 * The stock is where the locks are if that is PostgreSQL, MySQL or MariaDB, else in a SQLite file.
 * `--json` prints figures instead of the table.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../shared/check.ts';
import { Crew } from '../shared/crew.ts';
import * as screen from '../shared/screen.ts';
import { openSharedStage } from '../shared/stage.ts';
import type { SellerOrder, SellerPlan, SellerReport } from './seller.ts';
import { openShop, WAYS, type Way } from './shop.ts';

const SELLERS = ['seller 1', 'seller 2', 'seller 3', 'seller 4'];
const ITEMS = 200;
const FEW_ITEMS = 20;
/** Who waits for a row lock waits for as long as its holder stands still: this long, in ms. */
const STILL_MS = 500;

interface Result {
  readonly way: Way;
  readonly sold: number;
  readonly perSecond: number;
  readonly soldAfterStall: number;
}

const stage = openSharedStage();
const stockFile = join(stage.folder, 'stock.db');
const goOnFile = join(stage.folder, 'go-on');
const shop = await openShop(stage.store, stockFile);
await shop.fill(0);

const seen = { ready: 0, still: 0, 'sold out': 0 };
let sold = 0;
const crew = new Crew<SellerOrder, SellerReport>(
  new URL('./seller.ts', import.meta.url),
  (_name, report) => {
    seen[report.event]++;
    if (report.event === 'sold out') sold += report.sold;
  },
);
const [first = '', ...others] = SELLERS;
for (const name of SELLERS) {
  const plan: SellerPlan = { name, stage, stockFile, goOnFile };
  crew.start(name, plan);
}
await crew.until('all sellers are there', () => seen.ready === SELLERS.length);

async function open(items: number): Promise<void> {
  await shop.fill(items);
  Object.assign(seen, { still: 0, 'sold out': 0 });
  sold = 0;
}

/** Everybody sells at once; sales a second. */
async function race(way: Way): Promise<number> {
  await open(ITEMS);
  const since = performance.now();
  crew.orderAll(way);
  await crew.until('all is sold', () => seen['sold out'] === SELLERS.length);
  return Math.round((sold / (performance.now() - since)) * 1000);
}

/** The first seller has read, and stands still; the others go on; then it writes. */
async function stall(way: Way): Promise<number> {
  await open(FEW_ITEMS);
  rmSync(goOnFile, { force: true });
  crew.order(first, 'stand still');
  crew.order(first, way);
  await crew.until('it stands still', () => seen.still === 1);
  for (const name of others) crew.order(name, way);
  const haveOthersSold = (): boolean => seen['sold out'] === others.length;
  if (way === 'row lock') await crew.within(STILL_MS, haveOthersSold);
  else await crew.until('the others have sold everything', haveOthersSold);
  writeFileSync(goOnFile, '');
  await crew.until('all is sold', () => seen['sold out'] === SELLERS.length);
  return sold;
}

const results: Result[] = [];
for (const way of WAYS) {
  const perSecond = await race(way);
  results.push({ way, sold, perSecond, soldAfterStall: await stall(way) });
}
crew.orderAll('stop');
await crew.until('all sellers have gone home', () => crew.size === 0);
await shop.close({ forEver: true });

const isJson = process.argv.includes('--json');
if (isJson) console.log(JSON.stringify(results, null, 2));
else {
  const rows = results.map(({ way, perSecond, ...counts }) => {
    const [calm, still] = [verdict(counts.sold, ITEMS), verdict(counts.soldAfterStall, FEW_ITEMS)];
    return [way, String(perSecond), calm, still];
  });
  const head = ['', 'sales/s', `${ITEMS} lamps`, `${FEW_ITEMS} lamps, one seller stands still`];
  screen.say(...screen.table(head, rows), '');
}
for (const { way, ...counts } of results) {
  const calm = way === 'no lock' || counts.sold === ITEMS;
  const isStopped = way !== 'no lock' && way !== 'mutex';
  const still = isStopped === (counts.soldAfterStall === FEW_ITEMS);
  const promise = isStopped
    ? 'exact, also if a seller stands still'
    : 'oversells if a seller stands still';
  if (!isJson || !calm || !still) check(calm && still, `${way}: ${promise}`);
}

function verdict(count: number, items: number): string {
  if (count === items) return screen.paint('green', 'exact');
  return screen.paint('red', `${Math.abs(count - items)} too ${count > items ? 'many' : 'few'}`);
}
