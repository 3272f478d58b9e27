import { list } from '../../operators/list.ts';
import { COMMON } from '../arguments.ts';
import { openLocks } from '../open-locks.ts';
import { print, printJson } from '../output.ts';
import { plain } from '../text.ts';
import type { Verb } from './verb.ts';

const HELP = `Usage: holdfast ls [PREFIX] [--store URL] [--json]

Prints the names that are held or waited for, in order: all, or those that begin with PREFIX.
`;

export const verb: Verb = {
  help: HELP,
  flags: COMMON,
  async run(given) {
    const prefix = given.atMostOne();
    const locks = await openLocks(given);
    const names: string[] = [];
    for await (const name of list(locks, prefix)) names.push(name);
    if (given.has('json')) await printJson(names);
    else await print(names.map((name) => `${plain(name)}\n`).join(''));
    return 0;
  },
};
