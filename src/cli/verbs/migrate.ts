import { isLockError } from '../../base/errors.ts';
import { ALONE, type Arguments, COMMON, misuse } from '../arguments.ts';
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

interface Migration {
  migrate(scheme: string, rest: string): Promise<void>;
  migrationText(scheme: string, rest: string): string;
}

const loadPostgres = (): Promise<Migration> => import('../../stores/postgres/open-url.ts');
const loadMysql = (): Promise<Migration> => import('../../stores/mysql/open-url.ts');
const loadTable = (): Promise<Migration> => import('../../stores/table/open-url.ts');

/** Stores that do not make their tables at first use. */
const MIGRATIONS: ReadonlyMap<string, () => Promise<Migration>> = new Map([
  ['postgres', loadPostgres],
  ['postgresql', loadPostgres],
  ['mysql', loadMysql],
  ['mariadb', loadMysql],
  ['table+postgres', loadTable],
  ['table+postgresql', loadTable],
  ['table+mysql', loadTable],
  ['table+mariadb', loadTable],
]);

export const verb: CliVerb = {
  help: HELP,
  flags: { ...COMMON, print: ALONE },
  async run(given) {
    given.atMost(0);
    const [, scheme = '', rest = ''] = /^([^:]*):(.*)$/s.exec(urlOf(given)) ?? [];
    const load = MIGRATIONS.get(scheme);
    if (!load) {
      const known = [...MIGRATIONS.keys()].join(', ');
      throw configuration(`${quote(`${scheme}:`)} cannot be migrated, only ${known}.`);
    }
    const migration = await load();
    const text = inUrl(() => migration.migrationText(scheme, rest));
    if (given.has('print')) {
      await print(text);
      return 0;
    }
    await migration.migrate(scheme, rest);
    if (given.has('json')) await printJson({ migrated: true });
    else await print('The tables of the locks are up to date.\n');
    return 0;
  },
};

function urlOf(given: Arguments): string {
  const url = given.text('store') ?? process.env.HOLDFAST_STORE;
  if (url) return url;
  throw misuse('--store is missing: name the database to migrate');
}

function inUrl<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (isLockError(cause)) throw configuration(cause.message, cause);
    throw cause;
  }
}

function configuration(message: string, cause?: unknown): ExitError {
  return new ExitError(STATUS.configuration, message, { cause });
}
