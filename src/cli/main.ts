#!/usr/bin/env node
import manifest from '../../package.json' with { type: 'json' };
import { nearest } from '../base/nearest.ts';
import { ALONE, Arguments, COMMON, misuse } from './arguments.ts';
import { complainOf, print, quote } from './output.ts';
import { statusOf } from './process/exit-status.ts';
import { OTHER_WORDS, VERBS } from './verb-table.ts';

function help(): string {
  const width = Math.max(...[...VERBS.values()].map(({ use }) => use.length));
  const verbs = [...VERBS.values()].map(({ use, about }) => `  ${use.padEnd(width)}  ${about}\n`);
  return `Usage: holdfast VERB [ARGUMENT...] [flags]

Locks between processes, for the shell.

${verbs.join('')}
  --store URL            such as postgres://HOST/DATABASE; default $HOLDFAST_STORE, else a file
  --json                 for programs
  --help, --version

'holdfast VERB --help' tells more.
`;
}

async function main(argv: readonly string[]): Promise<number> {
  // Common flags may stand before the verb.
  let at = 0;
  while (argv[at]?.startsWith('-')) at += argv[at] === '--store' ? 2 : 1;
  const name = argv[at];
  const others = argv.filter((_, n) => n !== at);
  if (name === undefined) return withoutVerb(argv);
  if (name === 'help') return main([...others.filter((each) => each !== 'help'), '--help']);
  const listed = VERBS.get(name);
  if (!listed) {
    const near = OTHER_WORDS.get(name) ?? nearest(name, VERBS.keys());
    throw misuse(`There is no verb ${quote(name)}${near ? `; did you mean ${near}?` : SEE_HELP}`);
  }
  const { verb } = await listed.load();
  const given = new Arguments(others, verb.flags, verb.takesCommand);
  if (!given.has('help')) return verb.run(given, VERBS);
  await print(verb.help);
  return 0;
}

const SEE_HELP = `; see 'holdfast --help'`;

async function withoutVerb(argv: readonly string[]): Promise<number> {
  const given = new Arguments(argv, { ...COMMON, version: ALONE });
  if (given.has('version')) await print(`${manifest.version}\n`);
  else if (given.has('help')) await print(help());
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
