/**
 * Programs out of Debian's packages, in a folder of their own: nothing of the machine is changed,
 * no service starts, no root is needed, and releases other than the machine's do as well.
 *
 * apt does the work, from the mirror that the machine already uses. With lists of its own, and a
 * state in which no library is installed, it fetches every one that the programs need, and the
 * loader of the C library. They run through that loader: an old C library is no obstacle.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.ts';
import type { Command } from './programs.ts';

const run = promisify(execFile);

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** What only the packages' own scripts run, compilers of queries, and what draws on a screen. */
const NEEDLESS = [
  ...['adduser', 'debconf', 'dpkg', 'init-system-helpers', 'libc-bin', 'libgl1-mesa-dri'],
  ...['libllvm14', 'libllvm15', 'locales', 'lsb-base', 'netbase', 'openssl', 'passwd', 'perl'],
  ...['perl-base', 'postgresql-client-common', 'postgresql-common', 'readline-common'],
  ...['ssl-cert', 'tar', 'tzdata', 'ucf', 'usrmerge'],
];

/** Packages of a release. */
export interface Packages {
  /** Its code name. */
  readonly release: string;
  readonly packages: readonly string[];
  /** Default: `main`. */
  readonly components?: string;
  /** Of another distribution: the packages that know its keys and its mirror, and in what files. */
  readonly archive?: {
    readonly known: Packages;
    /** Below `/usr`. */
    readonly keyring: string;
    readonly mirror: { readonly file: string; readonly line: RegExp };
  };
}

/** The same, and where they are kept. */
export interface Debian extends Packages {
  readonly cache: string;
}

/**
 * How to start a program of the packages, whose path is below `/usr`. They are fetched if they are
 * not there.
 */
export async function debianProgram(debian: Debian, program: string): Promise<Command> {
  const root = await unpackedIn(debian);
  const [loader, ...folders] = await loaderIn(root);
  return [loader, '--library-path', folders.join(':'), join(root, 'usr', program)];
}

async function unpackedIn(debian: Debian): Promise<string> {
  const root = join(debian.cache, [debian.release, ...debian.packages].join('+'));
  await madeOnce(root, async (draft) => {
    const archives = await download(dirname(draft), debian);
    for (const archive of archives) await run('dpkg-deb', ['--extract', archive, draft]);
    await bend(draft);
  });
  return root;
}

/** Links that lead to the machine's root lead to the folder's own files, where it has them. */
async function bend(root: string): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of entries.filter((entry) => entry.isSymbolicLink())) {
    const link = join(parentPath, name);
    const target = await readlink(link);
    if (!target.startsWith('/') || !existsSync(join(root, target))) continue;
    await rm(link);
    await symlink(relative(parentPath, join(root, target)), link);
  }
}

/** The archives of the packages and of all that they depend on. */
async function download(folder: string, debian: Debian): Promise<string[]> {
  const { release, packages, components = 'main', archive, cache } = debian;
  const archives = join(folder, 'archives');
  await mkdir(join(folder, 'lists/partial'), { recursive: true });
  await mkdir(join(archives, 'partial'), { recursive: true });
  const needless = NEEDLESS.filter((name) => !packages.includes(name));
  await writeFile(join(folder, 'status'), needless.map(installed).join(''));
  const env = { ...process.env, APT_CONFIG: await settings(folder) };
  const apt = (...args: string[]): Promise<unknown> => run('apt-get', args, { env });
  const known = archive && join(await unpackedIn({ ...archive.known, cache }), 'usr');
  const keyring = archive && known ? join(known, archive.keyring) : KEYRING;
  const signed = existsSync(keyring) ? `[signed-by=${keyring}] ` : '';
  const failures: unknown[] = [];
  for (const mirror of archive && known ? [await mirrorIn(known, archive)] : await mirrors()) {
    try {
      await writeFile(
        join(folder, 'sources.list'),
        `deb ${signed}${mirror} ${release} ${components}\n`,
      );
      await apt('update', '--error-on=any');
      await apt('install', '--yes', '--download-only', '--no-install-recommends', ...packages);
      const names = await readdir(archives);
      return names.filter((name) => name.endsWith('.deb')).map((name) => join(archives, name));
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `no mirror of this machine has ${packages} of ${release}`);
}

/** An entry of apt's list of what is there, which every dependency is content with. */
function installed(name: string): string {
  const lines = [
    ...[`Package: ${name}`, 'Status: install ok installed', 'Version: 999'],
    ...['Architecture: all', 'Multi-Arch: allowed'],
  ];
  return `${lines.join('\n')}\n\n`;
}

/** What the machine has set holds as well, such as its proxy, but its hooks do not run. */
async function settings(folder: string): Promise<string> {
  const all = {
    'Dir::State': folder,
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': folder,
    'Dir::Cache::archives': join(folder, 'archives'),
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    // Root would fetch as another user, who cannot write here.
    'APT::Sandbox::User': 'root',
  };
  const machines = '/etc/apt/apt.conf';
  const last = [
    ...(existsSync(machines) ? [`#include "${machines}";`] : []),
    '#clear APT::Update;',
    ...Object.entries(all).map(([name, value]) => `${name} "${value}";`),
  ];
  // apt reads the file that the environment names before the machine's settings, and the main one
  // after them.
  const [firstFile, lastFile] = [join(folder, 'first.conf'), join(folder, 'last.conf')];
  await writeFile(lastFile, last.join('\n'));
  await writeFile(firstFile, `Dir::Etc::main "${lastFile}";`);
  return firstFile;
}

async function mirrorIn(
  folder: string,
  { mirror }: NonNullable<Packages['archive']>,
): Promise<string> {
  const text = await readFile(join(folder, mirror.file), 'utf8');
  const [, found] = mirror.line.exec(text) ?? [];
  if (found === undefined) throw new Error(`${mirror.file} names no mirror`);
  return found;
}

/** What the machine's own sources name, the likeliest first: where an update would begin. */
async function mirrors(): Promise<string[]> {
  const { stdout } = await run('apt-get', ['update', '--print-uris']);
  const found = [...stdout.matchAll(/^'(\S+?)\/+dists\//gm)].map(([, mirror = '']) => mirror);
  const rank = (mirror: string): number => (mirror.endsWith('/debian') ? 0 : 1);
  return [...new Set(found)].sort((a, b) => rank(a) - rank(b));
}

/** The loader of the unpacked C library, and the folders where it finds libraries. */
async function loaderIn(root: string): Promise<[loader: string, ...folders: string[]]> {
  const found: string[] = [];
  const folders: string[] = [];
  for (const lib of ['lib', 'usr/lib']) {
    for (const name of await readdir(join(root, lib)).catch(() => [])) {
      if (!name.includes('-linux-')) continue;
      const folder = join(root, lib, name);
      folders.push(folder);
      const loaders = (await readdir(folder)).filter((file) => /^ld-linux.*\.so\.\d+$/.test(file));
      found.push(...loaders.map((file) => join(folder, file)));
    }
  }
  const [loader] = found;
  if (loader === undefined) throw new Error(`${root} has no loader of the C library`);
  return [loader, ...folders];
}
