#!/usr/bin/env node
import { nearest } from '../base/nearest.ts';
import { ALONE, Arguments, COMMON, misuse } from './arguments.ts';
import { complainOf, print } from './output.ts';
import { statusOf } from './process/exit-status.ts';
import { quote } from './text.ts';
import type { Verb } from './verbs/verb.ts';

/** Loaded on demand: a command should not wait for code that it does not use. */
const VERBS: ReadonlyMap<string, () => Promise<{ readonly verb: Verb }>> = new Map([
  ['run', () => import('./verbs/run.ts')],
  ['once', () => import('./verbs/once.ts')],
  ['ls', () => import('./verbs/ls.ts')],
  ['show', () => import('./verbs/show.ts')],
  ['watch', () => import('./verbs/watch.ts')],
  ['top', () => import('./verbs/top.ts')],
  ['dashboard', () => import('./verbs/dashboard.ts')],
  ['evict', () => import('./verbs/evict.ts')],
  ['migrate', () => import('./verbs/migrate.ts')],
  ['doctor', () => import('./verbs/doctor.ts')],
]);

const HELP = `Usage: holdfast VERB [ARGUMENT...] [flags]

Locks between processes, for the shell.

  run NAME -- COMMAND    run a command while holding a lock
  once KEY -- COMMAND    run a command unless it has been done
  ls [PREFIX]            names that are held or waited for
  show NAME              its holders and waiters, in order
  watch NAME             the same, live
  top [PREFIX]           all names in use, live, the longest wait first
  dashboard [PREFIX]     the same on a page, for browsers
  evict NAME             take a lock away from a holder
  migrate                create the tables of the locks in a database
  doctor                 what is wrong with a store, and what to do

  --store URL            such as postgres://HOST/DATABASE; default $HOLDFAST_STORE, else a file
  --json                 for programs
  --help, --version

'holdfast VERB --help' tells more.
`;

async function main(argv: readonly string[]): Promise<number> {
  const at = verbAt(argv);
  const name = argv[at];
  const others = argv.filter((_, n) => n !== at);
  if (name === undefined) return withoutVerb(argv);
  if (name === 'help') return main([...others.filter((each) => each !== 'help'), '--help']);
  const load = VERBS.get(name);
  if (!load) {
    const near = nearest(name, VERBS.keys());
    throw misuse(`There is no verb ${quote(name)}${near ? `; did you mean ${near}?` : SEE_HELP}`);
  }
  const { verb } = await load();
  const given = new Arguments(others, verb.flags, verb.takesCommand);
  if (!given.has('help')) return verb.run(given);
  await print(verb.help);
  return 0;
}

const SEE_HELP = `; see 'holdfast --help'`;

/** The index of the verb; common flags may stand before it. */
function verbAt(argv: readonly string[]): number {
  let at = 0;
  while (argv[at]?.startsWith('-')) at += argv[at] === '--store' ? 2 : 1;
  return at;
}

async function withoutVerb(argv: readonly string[]): Promise<number> {
  const given = new Arguments(argv, { ...COMMON, version: ALONE });
  if (given.has('version')) {
    const { version } = await import('./version.ts');
    await print(`${version}\n`);
  } else if (given.has('help')) await print(HELP);
  else throw misuse(`A verb is missing${SEE_HELP}`);
  return 0;
}

const argv = process.argv.slice(2);
process.exitCode = await main(argv).catch(async (error: unknown) => {
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const status = statusOf(error);
  await complainOf(error, own.includes('--json'));
  return status;
});
process.exit();
