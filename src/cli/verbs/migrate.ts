import { isLockError } from '../../base/errors.ts';
import { sqlFence } from '../../fences/index.ts';
import { openerOf } from '../../stores/openers.ts';
import { ALONE, type CliVerb, COMMON, misuse } from '../arguments.ts';
import { print, printJson, quote } from '../output.ts';
import { ExitError, STATUS } from '../process/exit-status.ts';

export const verb: CliVerb = {
  help: `Usage: holdfast migrate --store URL [--fence] [--print]

Creates the tables that the locks need in a database, or brings them up to date. With --fence it
creates the table of sqlFence instead, in the database of the data that the fence protects.
Repeating it does no harm. Its user must be allowed to create tables; programs need fewer rights.

  --store URL    postgres://USER@HOST/DATABASE, mysql://… or table+postgres://…, with --fence also
                 sqlite:FILE; default $HOLDFAST_STORE
  --fence        creates the table holdfast_fence, and none for locks
  --print        writes the SQL instead of running it, for tools that keep migrations
  --json
`,
  flags: { ...COMMON, fence: ALONE, print: ALONE },
  async run(given) {
    given.atMost(0);
    const url = given.text('store') ?? process.env.HOLDFAST_STORE;
    if (!url) throw misuse('--store is missing: name the database to migrate');
    const { opener, scheme, rest } = await inUrl(() => openerOf(url));
    const { migrate, migrationText } = opener;
    const table = given.has('fence') ? fenceIn(scheme) : undefined;
    const text = table ?? (await inUrl(() => migrationText?.(scheme, rest)));
    if (!migrate || !text) {
      const known = 'only postgres, mysql and mariadb, also after table+, and with --fence sqlite';
      throw configuration(`${quote(`${scheme}:`)} cannot be migrated, ${known}.`);
    }
    if (given.has('print')) {
      await print(table ? `${table};\n` : text);
      return 0;
    }
    await inUrl(() => migrate(scheme, rest, table));
    if (given.has('json')) await printJson({ migrated: true });
    else await print(`The tables of the ${table ? 'fence' : 'locks'} are up to date.\n`);
    return 0;
  },
};

/** The statement that makes its table. */
function fenceIn(scheme: string): string {
  if (scheme === 'sqlite') return sqlFence({ dialect: 'sqlite' }).schema;
  return sqlFence({ dialect: scheme.includes('postgres') ? 'postgres' : 'mysql' }).schema;
}

/** What is misused here is the URL. */
async function inUrl<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (isLockError(cause, 'USAGE')) throw configuration(cause.message, cause);
    throw cause;
  }
}

function configuration(message: string, cause?: unknown): ExitError {
  return new ExitError(STATUS.configuration, message, { cause });
}
