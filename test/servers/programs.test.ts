import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { directory } from '../support/directory.ts';
import { findProgramIn, PLACES, type ProgramName } from './programs.ts';

const VERSIONS: readonly [ProgramName, option: string, says: RegExp][] = [
  ['redis', '--version', /^Redis server v=7\.0\./],
  ['redis-8', '--version', /^Redis server v=8\./],
  ['valkey', '--version', /^Valkey server v=8\./],
  ['postgres', '--version', /^postgres \(PostgreSQL\) 15\./],
  ['pgbouncer', '--version', /^PgBouncer 1\.18\./],
  ['mariadb', '--version', /Ver 10\.11\..*MariaDB/],
  ['mysql', '--version', /Ver 8\.0\./],
  ['etcd', '--version', /^etcd Version: 3\.4\./],
  ['etcd-3.5', '--version', /^etcd Version: 3\.5\./],
  ['cc', '-v', /^tcc version/],
  ['openssl', 'version', /^OpenSSL 3\./],
  ['java', '--version', /^openjdk 17\./],
  ['python', '--version', /^Python 3\.14\./],
];

// Even where a program is on the PATH, so that it is known to work where it is not.
it.for(VERSIONS)('%s comes from Debian if it is not on the PATH', async (row, test) => {
  test.skip(!existsSync('/usr/bin/apt-get'), "not promised: Debian's packages on other systems");
  const [name, option, says] = row;
  const [program, ...args] = await findProgramIn({ ...PLACES, path: '' }, name);
  const { stdout } = await promisify(execFile)(program, [...args, option]);
  expect(stdout).toMatch(says);
});

/** What programs of these names say in Debian and elsewhere, and whether they are taken. */
const SAID: readonly [ProgramName, file: string, says: string, taken: boolean][] = [
  ['redis', 'redis-server', 'Redis server v=7.2.4 sha=0:0 malloc=jemalloc-5.3.0 bits=64', true],
  ['redis', 'redis-server', 'Redis server v=6.2.14 sha=0:0 malloc=jemalloc-5.1.0', false],
  ['redis', 'redis-server', 'Valkey server v=8.1.1 sha=0:0 malloc=jemalloc-5.3.0', false],
  ['valkey', 'valkey-server', 'Valkey server v=7.2.5 sha=0:0 malloc=libc bits=64', true],
  ['postgres', 'postgres', 'postgres (PostgreSQL) 17.2 (Debian 17.2-1)', true],
  ['postgres', 'postgres', 'postgres (PostgreSQL) 12.22', false],
  ['pgbouncer', 'pgbouncer', 'PgBouncer 1.24.1', true],
  ['mysql', 'mysqld', '/usr/sbin/mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community)', true],
  ['mysql', 'mysqld', 'mysqld  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu', false],
  ['mysql', 'mysqld', 'mysqld  Ver 5.7.44 for Linux on x86_64 (MySQL Community)', false],
  ['mariadb', 'mariadbd', 'mariadbd  Ver 11.4.2-MariaDB for debian-linux-gnu', true],
  ['mariadb', 'mariadbd', 'mariadbd  Ver 10.5.23-MariaDB-0+deb11u1 for debian-linux', false],
  ['etcd', 'etcd', 'etcd Version: 3.5.16', true],
  ['etcd', 'etcd', 'etcd Version: 3.3.25', false],
  ['cc', 'cc', '', true],
];

function folderWith(file: string, says: string, mode: number): string {
  const folder = directory();
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo '${says}'\n`;
  writeFileSync(join(folder, file), script, { mode });
  return folder;
}

it.for(SAID)('%s: a %s that says %s is taken from the PATH: %s', async (row) => {
  const [name, file, says, taken] = row;
  const folder = folderWith(file, says, 0o755);
  // A file, so that nothing is fetched.
  const places = { path: folder, cache: join(folder, file) };
  const found = findProgramIn(places, name);
  if (taken) expect(await found).toEqual([join(folder, file)]);
  else await expect(found).rejects.toThrow(`no ${file} on the PATH is wanted`);
});

it('the first that may be run and is wanted is taken from the PATH', async () => {
  const good = 'Redis server v=7.0.15 sha=0:0';
  const folders = [
    folderWith('redis-server', good, 0o644),
    folderWith('redis-server', 'Redis server v=6.0.16 sha=0:0', 0o755),
    folderWith('redis-server', good, 0o755),
    folderWith('redis-server', good, 0o755),
  ];
  const places = { path: ['', ...folders].join(delimiter), cache: '' };
  expect(await findProgramIn(places, 'redis')).toEqual([join(folders[2] ?? '', 'redis-server')]);
});
