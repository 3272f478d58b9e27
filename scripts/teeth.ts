/**
 * `npm run teeth -- [--new] [--kind K]… [--seeds N] [words]`: plants each fault of
 * test/methods/teeth, or the new ones, or those with one of the words in their names, and lets
 * every kind of run look for it; processes, the dearest, only for what nothing else notices.
 * Records what noticed it. Fails if a fault survives, or if a run fails with none planted.
 *
 * `npm run teeth -- --known [--all-notices] [--kind K]… [words]`: lets only the cheapest of what is
 * recorded look for each fault, or all of it. Fails if something does not notice its fault any
 * more.
 *
 * With `--table` it plants nothing, and prints what noticed which fault.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { FAULTS } from '../test/methods/teeth/catalogue.ts';
import type { Fault } from '../test/methods/teeth/fault.ts';
import { inTrials } from '../test/methods/teeth/in-trials.ts';
import { DEAR, KINDS, type Kind, type Notice, partOf } from '../test/methods/teeth/kinds.ts';
import { firstNotice } from '../test/methods/teeth/noticing.ts';
import { cheapest, type Notices, readRecord, writeRecord } from '../test/methods/teeth/record.ts';
import { faultTable, summary } from '../test/methods/teeth/tables.ts';
import type { Trial } from '../test/methods/teeth/trial.ts';
import { lookForKnown } from './known-faults.ts';
import { run } from './steps.ts';

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    new: { type: 'boolean' },
    known: { type: 'boolean' },
    'all-notices': { type: 'boolean' },
    table: { type: 'boolean' },
    kind: { type: 'string', multiple: true },
    seeds: { type: 'string', default: '2000' },
  },
});
const kinds = KINDS.filter((kind) => values.kind?.includes(kind) ?? true);
const seeds = Number(values.seeds);
const record = readRecord();
const chosen = FAULTS.filter(({ name }) => {
  if (values.new && cheapest(record.get(name))) return false;
  return words.length === 0 || words.some((word) => name.includes(word));
});
let done = 0;
if (values.known) {
  const allNotices = values['all-notices'];
  process.exit((await lookForKnown(chosen, { kinds, allNotices })) ? 0 : 1);
}
if (values.table) {
  console.log(`${faultTable(record)}\n\n${summary(record)}`);
  process.exit();
}

// A run that fails anyway would notice everything.
const sources = [...new Map(chosen.map(({ file }) => [partOf(file), file])).values()];
const pairs = kinds.flatMap((kind) => sources.map((source) => ({ kind, source })));
await inTrials(pairs, availableParallelism(), checkSound);
await inTrials(chosen, availableParallelism(), look);
await run(['biome', 'format', '--write', 'test/methods/teeth/record.json']);
console.log(`\n${summary(record)}`);
process.exit(chosen.some(({ name }) => !cheapest(record.get(name))) ? 1 : 0);

async function checkSound(trial: Trial, at: { kind: Kind; source: string }): Promise<void> {
  const failed = await trial.seek(at.kind, { source: at.source, seeds });
  if (failed) throw new Error(`With no fault planted, this fails: ${JSON.stringify(failed)}`);
  console.log(`  sound: ${at.kind} for ${partOf(at.source)}`);
}

async function look(trial: Trial, fault: Fault): Promise<void> {
  const notices: Partial<Record<Kind, Notice>> = { ...record.get(fault.name) };
  for (const kind of kinds) delete notices[kind];
  await trial.with(fault, async () => {
    for (const kind of kinds) {
      if (DEAR.includes(kind) && cheapest(notices)) continue;
      const search = () => trial.seek(kind, { source: fault.file, seeds });
      const notice = await firstNotice(trial, search);
      if (notice) notices[kind] = notice;
    }
  });
  record.set(fault.name, notices);
  writeRecord(record);
  report(fault, notices);
}

function report({ name }: Fault, notices: Notices): void {
  const found = KINDS.filter((kind) => notices[kind]).map((kind) => {
    const seed = notices[kind]?.seed;
    return seed === undefined ? kind : `${kind} at seed ${seed}`;
  });
  const count = `${++done}/${chosen.length}`.padStart(7);
  console.log(`${count} ${found.length > 0 ? '✓' : '✗'} ${name}: ${found.join(', ') || 'nothing'}`);
}
