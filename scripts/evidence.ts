/**
 * What the battery leaves: `docs/reference/battery.json` says of each step when it ran last, at
 * which commit, and how it ended; `docs/reference/evidence.md` is made of that and says no more.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { BATTERY } from './lists.ts';
import { type Ended, minutes } from './run-steps.ts';
import { ROOT, run } from './steps.ts';

export const LEDGER: string = 'docs/reference/battery.json';
export const PAGE: string = 'docs/reference/evidence.md';

interface Entry extends Omit<Ended, 'skipped'> {
  readonly commit: string;
  /** The day of its end. */
  readonly day: string;
  /** The number of the run, from which its chance follows. */
  readonly run: number;
  readonly skipped: number;
  readonly machine: string;
}

let writing: Promise<void> = Promise.resolve();

/** After each step, for a run may be cut short; one after the other. */
export function writeEvidence(ended: Ended): Promise<void> {
  writing = writing.then(() => write(ended));
  return writing;
}

async function write(ended: Ended): Promise<void> {
  const { step, seconds, passed, failed, skipped, said } = ended;
  const now: Entry = {
    ...{ step, commit: await commitNow(), day: new Date().toISOString().slice(0, 10) },
    ...{ run: Number(process.env.HOLDFAST_RUN), seconds: Math.round(seconds) },
    ...{ passed, failed, skipped: skipped.length, ...(said && { said }), machine: machine() },
  };
  const before: Entry[] = JSON.parse(readFileSync(join(ROOT, LEDGER), 'utf8'));
  const entries = new Map([...before, now].map((entry) => [entry.step, entry]));
  const known = [...BATTERY.map(({ step }) => step.name), 'soak'];
  const all = known.flatMap((name) => entries.get(name) ?? []);
  writeFileSync(join(ROOT, LEDGER), `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(ROOT, PAGE), pageOf(all));
  await run(['biome', 'format', '--write', LEDGER, PAGE]);
}

async function commitNow(): Promise<string> {
  const [commit, changes] = await Promise.all([
    run(['git', 'rev-parse', '--short=10', 'HEAD']),
    run(['git', 'status', '--porcelain', '--', '.', `:!${LEDGER}`, `:!${PAGE}`]),
  ]);
  return `${commit.trim()}${changes.trim() === '' ? '' : ', changed'}`;
}

function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown';
  return `${availableParallelism()} cores (${model}), Node ${process.versions.node}`;
}

/** The page, but for what the formatter does to its table. */
export function pageOf(entries: readonly Entry[]): string {
  const rows = BATTERY.flatMap(({ step: { name }, what, from }) => {
    const entry = entries.find(({ step }) => step === name);
    return entry ? [rowOf(entry, `[${what}](../../${from})`)] : [];
  });
  const soak = entries.find(({ step }) => step === 'soak');
  if (soak) rows.push(rowOf(soak, 'the histories and the worlds, on and on'));
  const machines = [...new Set(entries.map((entry) => entry.machine))].join('; ');
  const said = entries.flatMap((entry) => (entry.said ? `- ${entry.step}: ${entry.said}` : []));
  return `# Evidence

What \`npm run battery\` tried last, when, on which commit, and how it ended. This page is made of
its [ledger](battery.json) alone. No number of trials is a proof: none wrong in _n_ bounds the rate
at 3/_n_ (95 %). \`npm run battery -- NAME\` repeats a row.

| name | what is tried | passed | failed | not promised | took | on | commit |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

On ${machines || 'no machine yet'}. What each said of itself:

${said.join('\n') || '- nothing yet'}
`;
}

function rowOf(entry: Entry, what: string): string {
  const { step, passed, failed, skipped, seconds, day, commit } = entry;
  const cells = [step, what, passed, failed.length, skipped, minutes(seconds), day, commit];
  return `| ${cells.join(' | ')} |`;
}
