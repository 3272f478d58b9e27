import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { until } from '../support/until.ts';
import { MARIADB, startMariadb } from './mariadb-server.ts';
import { MYSQL, type MysqlServer, newData, startMysql } from './mysql-server.ts';
import { alive, stateOf } from './process-table.ts';
import { findProgram, missing } from './programs.ts';
import { serverFolder } from './server-process.ts';
import { TcpProxy } from './tcp-proxy.ts';

const PRODUCTS = [
  { name: 'mariadb', product: MARIADB, start: startMariadb, version: /^10\.11\.\d+-MariaDB/ },
  { name: 'mysql', product: MYSQL, start: startMysql, version: /^8\.0\./ },
] as const;

describe.for(PRODUCTS)('a server of $name', async ({ name, product, start: begin, version }) => {
  const why = await missing(name);
  const closing: { close(): Promise<void> | void }[] = [];

  afterEach(async () => {
    for (const each of closing.splice(0).reverse()) await each.close();
  });

  const start: typeof begin = async (options) => {
    const server = await begin(options);
    closing.push(server);
    return server;
  };

  it('answers on its port, on loopback only, and commits durably', async ({ skip }) => {
    skip(why !== undefined, why);
    const server = await start();
    const client = await connect(server.url);
    const [row] = await rows(
      client,
      `select version() as version, @@bind_address as address,
      @@innodb_flush_log_at_trx_commit as flush, database() as place`,
    );
    expect(row).toMatchObject({ address: '127.0.0.1', flush: 1, place: 'test' });
    expect(row?.version).toMatch(version);
  });

  it('removes no temporary table of another one that begins beside it', async ({ skip }) => {
    skip(why !== undefined, why);
    const folder = serverFolder(join(tmpdir(), 'holdfast-begin-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const all = serverFolder(join(folder, 'all-'));
    await writeFile(join(all, '#sql-temptable-1-1-1.MAI'), '');
    vi.stubEnv('TMPDIR', all);
    onTestFinished(() => void vi.unstubAllEnvs());
    await newData(product, await findProgram(name), join(folder, 'data'));
    expect(await readdir(all)).toEqual(['#sql-temptable-1-1-1.MAI']);
  });

  it('keeps what was committed when it stops and when it crashes', async ({ skip }) => {
    skip(why !== undefined, why);
    const server = await start();
    await server.query('create table t (n int)');
    await server.query('insert into t values (1)');
    await server.stop();
    expect(server.running).toBe(false);
    await server.start();
    const client = await connect(server.url);
    await client.query('begin');
    await client.query('insert into t values (2)');
    const { pid } = server;
    await server.restart();
    expect(alive(pid)).toBe(false);
    expect(await rowsOf(server)).toEqual([1]);
  });

  it('has replicas, which are read-only, follow, and are promoted', async ({ skip }) => {
    skip(why !== undefined, why);
    const primary = await start({ binlog: true });
    await primary.query('create table t (n int); insert into t values (1)');
    const proxy = await TcpProxy.start(primary.port);
    closing.push(proxy);
    const replica = await primary.replica({ via: proxy.port });
    closing.push(replica);
    await replica.inStep();
    expect(await rowsOf(replica)).toEqual([1]);
    await replica.query("create user bob@'127.0.0.1'; grant all on test.* to bob@'127.0.0.1'");
    const bob = await connect(replica.urlOf({ user: 'bob' }));
    await expect(bob.query('insert into t values (2)')).rejects.toThrow(/read-only/);
    proxy.set({ flow: 'swallow' });
    await primary.query('insert into t values (3)');
    await replica.promote();
    await bob.query('insert into t values (4)');
    await replica.restart();
    expect(await rowsOf(replica)).toEqual([1, 4]);
    expect(await rowsOf(primary)).toEqual([1, 3]);
    await expect(primary.inStep()).rejects.toThrow(/no replica/);
  });

  // Starting MySQL takes a second, and what follows is the same for both.
  if (name === 'mysql') return;

  it('two start at once, each on a port and with data of its own', async ({ skip }) => {
    skip(why !== undefined, why);
    const all = await Promise.all([start(), start()]);
    expect(all[0].port).not.toBe(all[1].port);
    for (const [n, server] of all.entries()) await server.query(`create table t as select ${n} n`);
    expect(await Promise.all(all.map(rowsOf))).toEqual([[0], [1]]);
  });

  it('is configured as asked, and asks users for their passwords', async ({ skip }) => {
    skip(why !== undefined, why);
    const login = { user: 'bob', password: 'p/ss word', database: 'some where' };
    const server = await start({ config: ['--max-connections=17'] });
    expect(await server.query('select @@max_connections as max')).toEqual([{ max: 17 }]);
    await server.query('create database `some where`');
    await server.query("create user bob@'127.0.0.1' identified by 'p/ss word'");
    await server.query("grant all on `some where`.* to bob@'127.0.0.1'");
    const bob = await connect(server.urlOf(login));
    expect(await rows(bob, 'select database() as place')).toEqual([{ place: 'some where' }]);
    const stranger = connect(server.urlOf({ ...login, password: 'wrong' }));
    await expect(stranger).rejects.toThrow(/Access denied/);
  });

  it('that cannot start says why, and leaves nothing behind', async ({ skip }) => {
    skip(why !== undefined, why);
    const config = ['--no-such-option=1'];
    await expect(start({ config })).rejects.toThrow(/no-such-option/);
    const server = await start();
    const { pid, folder } = server;
    await server.close();
    expect(alive(pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });

  it('that stands still answers nothing, and loses nothing', async ({ skip }) => {
    skip(why !== undefined, why);
    const server = await start();
    const client = await connect(server.url);
    server.pause();
    await until('stood still', async () => stateOf(server.pid) === 'T');
    let answered = false;
    const answer = client.query('select 1').finally(() => {
      answered = true;
    });
    // An answer of one that does not stand still takes much less.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(answered).toBe(false);
    server.resume();
    await answer;
    server.pause();
    await server.close();
    expect(server.running).toBe(false);
  });
});

async function connect(uri: string): Promise<Connection> {
  const client = await createConnection(uri);
  client.on('error', () => {});
  onTestFinished(() => client.destroy());
  return client;
}

async function rows(client: Connection, sql: string): Promise<RowDataPacket[]> {
  const [found] = await client.query<RowDataPacket[]>(sql);
  return found;
}

async function rowsOf(server: MysqlServer): Promise<unknown[]> {
  const rows = await server.query<{ n: number }>('select n from t order by n');
  return rows.map(({ n }) => n);
}
