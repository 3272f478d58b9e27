/** The programs that tests start: the machine's own, and what it lacks out of Debian's packages. */
import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HANG_MS } from '../support/this-run.ts';
import { debianProgram, type Packages } from './debian.ts';

/** How to start it: the program, and what comes before its own arguments. */
export type Command = readonly [program: string, ...args: string[]];

type Database = 'postgres' | 'pgbouncer' | 'mariadb' | 'mysql' | 'mongodb';
/** `redis` and `etcd` are the oldest that are supported, or what the machine has. */
type KeyServer = 'redis' | 'redis-8' | 'valkey' | 'etcd' | 'etcd-3.5' | 'consul';
type Language = 'cc' | 'java' | 'python' | 'spin' | 'zsh' | 'fish';
export type ProgramName = Database | KeyServer | Language | 'openssl' | 'promtool' | 'chromium';

/** Where programs are looked for, and where those are kept that had to be fetched. */
export type Places = { readonly path: string; readonly cache: string };

const CACHE = new URL('../../node_modules/.cache/holdfast-servers', import.meta.url);

/** Debian keeps the programs of PostgreSQL's servers off the PATH. */
const PATH = [process.env.PATH ?? '', '/usr/lib/postgresql/15/bin'].join(delimiter);

export const PLACES: Places = { path: PATH, cache: fileURLToPath(CACHE) };

const BOOKWORM = bookworm(
  ...['redis-server', 'postgresql-15', 'pgbouncer', 'mariadb-server-core', 'spin'],
);
const TRIXIE = {
  release: 'trixie',
  packages: ['redis-server', 'valkey-server', 'tcc', 'openssl', 'ubuntu-keyring', 'debootstrap'],
};
/** A compiler is part of it, and the jars of ZooKeeper and of Curator lie beside it. */
const JAVA = bookworm(
  ...['default-jre-headless', 'openjdk-17-jdk-headless'],
  ...['libzookeeper-java', 'libcurator-recipes-java'],
);
/** Debian knows where Ubuntu is, and by which keys. */
const UBUNTU = {
  known: TRIXIE,
  keyring: 'share/keyrings/ubuntu-archive-keyring.gpg',
  mirror: { file: 'share/debootstrap/scripts/gutsy', line: /default_mirror (\S+)/ },
};
/** Debian has no MySQL 8. */
const NOBLE = { release: 'noble', packages: ['mysql-server-core-8.0'], archive: UBUNTU };
/** A server that speaks as S3 does, in Python. Those of Debian ignore `If-Match` in a PUT. */
const RESOLUTE = universe('resolute', 'python3-moto', 'python3-flask-cors');
/** Debian has none, and later releases of Ubuntu neither. */
const FOCAL = universe('focal', 'mongodb-server-core');
const JAMMY = universe('jammy', 'consul');
/** Rules are checked by it, nothing is collected. */
const PROMETHEUS = bookworm('prometheus');
/** A browser without windows, and letters for it. */
const BROWSER = bookworm('chromium', 'fonts-dejavu-core');

const etcdOf = (release: string): Packages => ({
  release,
  packages: ['etcd-server', 'etcd-client'],
});

function bookworm(...packages: readonly string[]): Packages {
  return { release: 'bookworm', packages };
}

/** Of Ubuntu's packages, also those that its volunteers care for. */
function universe(release: string, ...packages: readonly string[]): Packages {
  return { release, components: 'main universe', packages, archive: UBUNTU };
}

interface Source {
  readonly onPath: string | undefined;
  /** What it says to `--version`, up to the version; undefined: any that is there will do. */
  readonly says?: RegExp;
  /** The oldest that is supported. */
  readonly oldest?: readonly [major: number, minor: number];
  readonly debian: Packages;
  /** Below `/usr`. */
  readonly inDebian: string;
}

/** Others install programs under these names: MariaDB has a `mysqld`, Valkey a `redis-server`. */
const PROGRAMS: Readonly<Record<ProgramName, Source>> = {
  redis: {
    ...{ onPath: 'redis-server', says: /^Redis server v=/, oldest: [7, 0] },
    ...{ debian: BOOKWORM, inDebian: 'bin/redis-server' },
  },
  'redis-8': { onPath: undefined, debian: TRIXIE, inDebian: 'bin/redis-server' },
  valkey: {
    ...{ onPath: 'valkey-server', says: /^Valkey server v=/, oldest: [7, 2] },
    ...{ debian: TRIXIE, inDebian: 'bin/valkey-server' },
  },
  postgres: {
    ...{ onPath: 'postgres', says: /^postgres \(PostgreSQL\) /, oldest: [13, 0] },
    ...{ debian: BOOKWORM, inDebian: 'lib/postgresql/15/bin/postgres' },
  },
  pgbouncer: {
    ...{ onPath: 'pgbouncer', says: /^PgBouncer /, oldest: [1, 18] },
    ...{ debian: BOOKWORM, inDebian: 'sbin/pgbouncer' },
  },
  mariadb: {
    ...{ onPath: 'mariadbd', says: /Ver (?=\S+-MariaDB)/, oldest: [10, 6] },
    ...{ debian: BOOKWORM, inDebian: 'sbin/mariadbd' },
  },
  mysql: {
    ...{ onPath: 'mysqld', says: /Ver (?!\S+-MariaDB)/, oldest: [8, 0] },
    ...{ debian: NOBLE, inDebian: 'sbin/mysqld' },
  },
  etcd: {
    ...{ onPath: 'etcd', says: /^etcd Version: /, oldest: [3, 4] },
    ...{ debian: etcdOf('bookworm'), inDebian: 'bin/etcd' },
  },
  'etcd-3.5': { onPath: undefined, debian: etcdOf('trixie'), inDebian: 'bin/etcd' },
  cc: { onPath: 'cc', debian: TRIXIE, inDebian: 'bin/tcc' },
  spin: { onPath: 'spin', debian: BOOKWORM, inDebian: 'bin/spin' },
  java: { onPath: undefined, debian: JAVA, inDebian: 'lib/jvm/default-java/bin/java' },
  python: { onPath: undefined, debian: RESOLUTE, inDebian: 'bin/python3' },
  mongodb: {
    ...{ onPath: 'mongod', says: /^db version v/, oldest: [3, 6] },
    ...{ debian: FOCAL, inDebian: 'bin/mongod' },
  },
  consul: {
    ...{ onPath: 'consul', says: /^Consul v/, oldest: [1, 8] },
    ...{ debian: JAMMY, inDebian: 'bin/consul' },
  },
  promtool: {
    ...{ onPath: 'promtool', says: /^promtool, version /, oldest: [2, 42] },
    ...{ debian: PROMETHEUS, inDebian: 'bin/promtool' },
  },
  chromium: { onPath: undefined, debian: BROWSER, inDebian: 'lib/chromium/chromium' },
  openssl: { onPath: 'openssl', debian: TRIXIE, inDebian: 'bin/openssl' },
  zsh: { onPath: undefined, debian: bookworm('zsh'), inDebian: '../bin/zsh' },
  fish: { onPath: undefined, debian: bookworm('fish'), inDebian: 'bin/fish' },
};

const found = new Map<ProgramName, Promise<Command>>();

/** The first call may fetch it, which takes seconds. Rejects if it is not to be had. */
export async function findProgram(name: ProgramName): Promise<Command> {
  if (process.env.HOLDFAST_TESTS === 'without servers') {
    throw new Error(`what starts ${name} is no test of this project: see vitest.config.ts`);
  }
  const program = found.get(name) ?? findProgramIn(PLACES, name);
  found.set(name, program);
  return program;
}

/** The folder that it was installed in. */
export function folderOf(command: Command): string {
  return dirname(realpathSync(command.at(-1) as string));
}

/** The program of that name that was installed in the same folder, started in the same way. */
export function beside(command: Command, name: string): Command {
  const file = join(folderOf(command), name);
  const [first, ...others] = command;
  return others.length === 0 ? [file] : [first, ...others.slice(0, -1), file];
}

export async function findProgramIn(places: Places, name: ProgramName): Promise<Command> {
  const { onPath, debian, inDebian } = PROGRAMS[name];
  const file = onPath && (await onThePath(PROGRAMS[name], places.path));
  if (file) return [file];
  try {
    return await debianProgram({ ...debian, cache: places.cache }, inDebian);
  } catch (cause) {
    const where = onPath === undefined ? '' : `no ${onPath} on the PATH is wanted, and `;
    throw new Error(`${where}${inDebian} of ${debian.release} is not to be had`, { cause });
  }
}

/** Why tests on a newer server than the oldest have to be skipped, if they have to. */
export async function missing(name: ProgramName): Promise<string | undefined> {
  const why = (error: Error): string => `not promised: ${name} on every machine: ${error.message}`;
  return findProgram(name).then(() => undefined, why);
}

/** Before the first test; what is not to be had fails those who start it. */
export async function setup(): Promise<void> {
  // One after the other: what two of them need is fetched once.
  for (const name of Object.keys(PROGRAMS) as ProgramName[]) await missing(name);
}

/** The first program of that name which is what it is looked for as. */
async function onThePath(source: Source, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, source.onPath ?? '');
    const there = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (there && folder !== '' && (await isWanted(source, file))) return file;
  }
  return undefined;
}

async function isWanted({ says, oldest = [0, 0] }: Source, file: string): Promise<boolean> {
  if (!says) return true;
  const said = await promisify(execFile)(file, ['--version'], { timeout: HANG_MS }).then(
    ({ stdout }) => stdout,
    () => '',
  );
  const start = says.exec(said);
  if (!start) return false;
  const behind = said.slice(start.index + start[0].length);
  const [, major, minor = 0] = /^(\d+)(?:\.(\d+))?/.exec(behind)?.map(Number) ?? [];
  if (major === undefined) return false;
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}
