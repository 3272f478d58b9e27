import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
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

/** It may have to be fetched. */
const PATIENCE = { timeout: 300_000 };

// Even where a program is on the PATH, so that it is known to work where it is not.
it.for(VERSIONS)('%s comes from Debian if it is not on the PATH', PATIENCE, async (row, test) => {
  test.skip(!existsSync('/usr/bin/apt-get'), "not promised: Debian's packages on other systems");
  const [name, option, says] = row;
  const [program, ...args] = await findProgramIn({ ...PLACES, path: '' }, name);
  const { stdout } = await promisify(execFile)(program, [...args, option]);
  expect(stdout).toMatch(says);
});

it('what is on the PATH, and may be run, is taken from there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-path-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [no, yes] = [join(folder, 'no'), join(folder, 'yes')];
  for (const [bin, mode] of [[no, 0o644] as const, [yes, 0o755] as const]) {
    mkdirSync(bin);
    writeFileSync(join(bin, 'redis-server'), '', { mode });
  }
  const places = { path: ['', no, yes].join(delimiter), cache: join(folder, 'cache') };
  expect(await findProgramIn(places, 'redis')).toEqual([join(yes, 'redis-server')]);
});
