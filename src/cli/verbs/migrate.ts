import { isLockError } from '../../base/errors.ts';
import { openerOf } from '../../stores/openers.ts';
import { ALONE, COMMON, misuse } from '../arguments.ts';
import { print, printJson } from '../output.ts';
import { ExitError, STATUS } from '../process/exit-status.ts';
import { quote } from '../text.ts';
import type { CliVerb } from './verb.ts';

const HELP = `Usage: holdfast migrate --store URL [--print]

Creates the tables that the locks need in a database, or brings them up to date. Repeating it does
no harm. Its user must be allowed to create tables; programs need fewer rights.

  --store URL    postgres://USER@HOST/DATABASE, mysql://… or table+postgres://…;
                 default $HOLDFAST_STORE
  --print        writes the SQL instead of running it, for tools that keep migrations
  --json
`;

export const verb: CliVerb = {
  help: HELP,
  flags: { ...COMMON, print: ALONE },
  async run(given) {
    given.atMost(0);
    const url = given.text('store') ?? process.env.HOLDFAST_STORE;
    if (!url) throw misuse('--store is missing: name the database to migrate');
    const { opener, scheme, rest } = await inUrl(() => openerOf(url));
    const { migrate, migrationText } = opener;
    if (!migrate || !migrationText) {
      const known = 'only postgres, mysql and mariadb, also after table+';
      throw configuration(`${quote(`${scheme}:`)} cannot be migrated, ${known}.`);
    }
    const text = await inUrl(() => migrationText(scheme, rest));
    if (given.has('print')) {
      await print(text);
      return 0;
    }
    await migrate(scheme, rest);
    if (given.has('json')) await printJson({ migrated: true });
    else await print('The tables of the locks are up to date.\n');
    return 0;
  },
};

async function inUrl<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (isLockError(cause)) throw configuration(cause.message, cause);
    throw cause;
  }
}

function configuration(message: string, cause?: unknown): ExitError {
  return new ExitError(STATUS.configuration, message, { cause });
}
