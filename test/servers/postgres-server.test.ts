import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closing } from '../support/closing.ts';
import { directory } from '../support/directory.ts';
import { until } from '../support/until.ts';
import { type PostgresOptions, type PostgresServer, startPostgres } from './postgres-server.ts';
import { alive, childrenOf } from './process-table.ts';
import { findProgramIn, folderOf, PLACES } from './programs.ts';

async function start(options?: PostgresOptions): Promise<PostgresServer> {
  return closing(await startPostgres(options));
}

describe('a PostgreSQL', () => {
  it('that cannot start says why, and leaves nothing behind', async () => {
    const config = ['no_such_parameter = 1'];
    await expect(start({ config })).rejects.toThrow(/no_such_parameter/);
    const first = await start();
    await expect(start({ port: first.port })).rejects.toThrow(/Address already in use/);
    expect(await first.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('that is closed leaves no process, no folder and no shared memory', async () => {
    const server = await startPostgres();
    const pidFile = readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8');
    const [, memory = ''] = /^ *\d+ +(\d+)$/m.exec(pidFile) ?? [];
    const segments = (): string => execFileSync('ipcs', ['-m'], { encoding: 'utf8' });
    expect(segments()).toMatch(new RegExp(`^\\S+ +${memory} `, 'm'));
    const all = [server.pid, ...childrenOf(server.pid)];
    expect(all.length).toBeGreaterThan(3);
    await server.close();
    expect(all.filter(alive)).toEqual([]);
    expect(existsSync(server.folder)).toBe(false);
    expect(segments()).not.toMatch(new RegExp(`^\\S+ +${memory} `, 'm'));
  });

  it('ends with the process that started it, even if that is killed', async ({ skip }) => {
    skip(process.platform !== 'linux', 'not promised: only Linux kills a child with its parent');
    const file = fileURLToPath(new URL('children/postgres.ts', import.meta.url));
    // Nobody is left to remove the folder of that server.
    const env = { ...process.env, TMPDIR: directory() };
    const child = spawn(process.execPath, ['--import', 'tsx', file], { env });
    onTestFinished(() => void child.kill('SIGKILL'));
    const pid = await new Promise<number>((resolve) => {
      child.stdout.once('data', (line) => resolve(Number(line)));
    });
    const all = [pid, ...childrenOf(pid)];
    expect(all.every(alive)).toBe(true);
    child.kill('SIGKILL');
    await until('ended', async () => !all.some(alive));
  });

  it("out of packages works as the machine's own", async ({ skip }) => {
    skip(!existsSync('/usr/bin/apt-get'), "not promised: Debian's packages on other systems");
    const program = await findProgramIn({ ...PLACES, path: '' }, 'postgres');
    const server = await start({ program });
    const [place] = await server.query("select setting from pg_config where name = 'BINDIR'");
    expect(place).toEqual({ setting: folderOf(program) });
    await server.query(`create function f() returns int language plpgsql
      as 'begin return 7; end'`);
    const standby = closing(await server.standby());
    await standby.inStep();
    expect(await standby.query('select f()')).toEqual([{ f: 7 }]);
  });
});

describe('faults of a PostgreSQL', () => {
  it('one that stands still can be killed and closed', async () => {
    const server = await start();
    await server.query('create table t (n int)');
    server.pause();
    await server.restart();
    expect(await server.query('select n from t')).toEqual([]);
    server.pause();
    await server.close();
    expect(server.running).toBe(false);
  });
});
