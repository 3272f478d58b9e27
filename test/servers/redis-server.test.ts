import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { directory } from '../cli/program.ts';
import { until } from '../support/until.ts';
import { alive, stateOf } from './process-table.ts';
import { closeAll, RedisServer, type RedisServerOptions } from './redis-server.ts';

const servers: RedisServer[] = [];

afterEach(() => closeAll(servers.splice(0)));

async function start(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  servers.push(server);
  return server;
}

describe('a server', () => {
  it('answers on its port, on loopback only', async () => {
    const server = await start();
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    expect(await client.ping()).toBe('PONG');
    expect(await server.command('CONFIG', 'GET', 'bind')).toEqual(['bind', '127.0.0.1']);
  });

  it('has a port and a folder of its own', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => start()));
    expect(new Set(all.map(({ port }) => port)).size).toBe(all.length);
    expect(new Set(all.map(({ folder }) => folder)).size).toBe(all.length);
  });

  it('that cannot start says why, and leaves nothing behind', async () => {
    await expect(start({ config: ['no-such-directive yes'] })).rejects.toThrow(/no-such-directive/);
    const first = await start();
    await expect(start({ port: first.port })).rejects.toThrow(/Address already in use/);
    expect(await first.command('PING')).toBe('PONG');
  });

  it('that is closed leaves no process and no folder', async () => {
    const server = await RedisServer.start();
    const { pid, folder } = server;
    await server.close();
    expect(alive(pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });

  it('ends with the process that started it, even if that is killed', async ({ skip }) => {
    skip(process.platform !== 'linux', 'not promised: only Linux kills a child with its parent');
    const file = fileURLToPath(new URL('children/server.ts', import.meta.url));
    // Nobody is left to remove the folder of that server.
    const env = { ...process.env, TMPDIR: directory() };
    const child = spawn(process.execPath, ['--import', 'tsx', file], { env });
    onTestFinished(() => void child.kill('SIGKILL'));
    const pid = await new Promise<number>((resolve) => {
      child.stdout.once('data', (line) => resolve(Number(line)));
    });
    expect(alive(pid)).toBe(true);
    child.kill('SIGKILL');
    await until('ended', async () => !alive(pid));
  });
});

describe('faults of a server', () => {
  it('a crash loses what it had in memory; it starts again on the same port', async () => {
    const server = await start();
    const { pid } = server;
    await server.command('SET', 'k', 'v');
    await server.kill();
    expect(alive(pid)).toBe(false);
    expect(server.running).toBe(false);
    await expect(server.command('PING')).rejects.toThrow();
    await server.start();
    expect(await server.command('GET', 'k')).toBe(null);
  });

  it('a persistent server keeps through a crash what it has answered', async () => {
    const server = await start({ persistent: true });
    for (let n = 1; n <= 20; n += 1) await server.command('INCR', 'n');
    await server.restart({ keepData: true });
    expect(await server.command('GET', 'n')).toBe('20');
    await server.restart({ keepData: false });
    expect(await server.command('GET', 'n')).toBe(null);
  });

  it('one that is not persistent cannot be asked to keep its data', async () => {
    const server = await start();
    await expect(server.restart({ keepData: true })).rejects.toThrow(/persistent/);
    expect(await server.command('PING')).toBe('PONG');
  });

  it('a pause answers nothing, and loses nothing', async () => {
    const server = await start();
    const other = await start();
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    await client.ping();
    server.pause();
    await until('stood still', async () => stateOf(server.pid) === 'T');
    let answered = false;
    const answer = client.incr('n').finally(() => {
      answered = true;
    });
    for (let n = 0; n < 20; n += 1) await other.command('PING');
    expect(answered).toBe(false);
    server.resume();
    expect(await answer).toBe(1);
  });
});
