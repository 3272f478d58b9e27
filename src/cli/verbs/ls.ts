import { list, queuesOf } from '../../operators/list.ts';
import { ALONE, type CliVerb, COMMON } from '../arguments.ts';
import { openLocks } from '../open-locks.ts';
import { plain, print, printJson } from '../output.ts';
import { queueJson, summaryLines } from '../queue-view.ts';

export const verb: CliVerb = {
  help: `Usage: holdfast ls [PREFIX] [-l] [--store URL] [--json]

Prints the names that are held or waited for, in order: all, or those that begin with PREFIX.

  -l, --long     also how much is taken, by whom and for how long, and how many wait
  --store URL    sqlite:FILE, postgres://HOST, etcd://HOST, …; default $HOLDFAST_STORE or a file
  --json
`,
  flags: { ...COMMON, long: { ...ALONE, short: 'l' } },
  async run(given) {
    const prefix = given.atMost(1);
    const locks = await openLocks(given, { looks: true });
    const names: string[] = [];
    for await (const name of list(locks, prefix)) names.push(name);
    const asJson = given.has('json');
    if (given.has('long')) {
      const queues = [...(await queuesOf(locks, names)).values()];
      if (asJson) await printJson(queues.map(queueJson));
      else if (queues.length > 0) await print(`${summaryLines(queues).join('\n')}\n`);
    } else if (asJson) await printJson(names);
    else await print(names.map((name) => `${plain(name)}\n`).join(''));
    return 0;
  },
};
