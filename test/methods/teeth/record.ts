import { readFileSync, writeFileSync } from 'node:fs';
import { FAULTS } from './catalogue.ts';
import { KINDS, type Kind, type Notice } from './kinds.ts';

const FILE = new URL('record.json', import.meta.url);

/** What has noticed a fault, by the kind of run. */
export type Notices = Partial<Readonly<Record<Kind, Notice>>>;

/** By the names of the faults; written by `npm run teeth`, read by it with `--known`. */
export function readRecord(): Map<string, Notices> {
  return new Map(Object.entries(JSON.parse(readFileSync(FILE, 'utf8'))));
}

/** Keeps the order of the catalogue, and drops what is no longer in it. */
export function writeRecord(record: ReadonlyMap<string, Notices>): void {
  const known = FAULTS.flatMap(({ name }) => (record.has(name) ? [[name, record.get(name)]] : []));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`);
}

/** From the cheapest kind of run, but not by waiting for a time-out, if possible. */
export function cheapest(notices: Notices | undefined): Notice | undefined {
  const all = KINDS.flatMap((kind) => notices?.[kind] ?? []);
  return all.find(({ hung }) => !hung) ?? all[0];
}
