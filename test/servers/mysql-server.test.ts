import { readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { MARIADB, startMariadb } from './mariadb-server.ts';
import { MYSQL, newData, startMysql } from './mysql-server.ts';
import { findProgram, missing } from './programs.ts';
import { serverFolder } from './server-process.ts';

const PRODUCTS = [
  { name: 'mariadb', product: MARIADB, start: startMariadb, version: /^10\.11\.\d+-MariaDB/ },
  { name: 'mysql', product: MYSQL, start: startMysql, version: /^8\.0\./ },
] as const;

describe.for(PRODUCTS)('a server of $name', ({ name, product, start, version }) => {
  beforeEach(async ({ skip }) => {
    const why = await missing(name);
    skip(why !== undefined, why);
  });

  it('answers on its port, on loopback only, and commits durably', async () => {
    const server = await start();
    onTestFinished(() => server.close());
    const client = await createConnection(server.url);
    onTestFinished(() => client.destroy());
    const [[row]] = await client.query<RowDataPacket[]>(
      `select version() as version, @@bind_address as address,
      @@innodb_flush_log_at_trx_commit as flush, database() as place`,
    );
    expect(row).toMatchObject({ address: '127.0.0.1', flush: 1, place: 'test' });
    expect(row?.version).toMatch(version);
  });

  it('removes no temporary table of another one that begins beside it', async () => {
    const folder = serverFolder(join(tmpdir(), 'holdfast-begin-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const all = serverFolder(join(folder, 'all-'));
    await writeFile(join(all, '#sql-temptable-1-1-1.MAI'), '');
    vi.stubEnv('TMPDIR', all);
    onTestFinished(() => void vi.unstubAllEnvs());
    await newData(product, await findProgram(name), join(folder, 'data'));
    expect(await readdir(all)).toEqual(['#sql-temptable-1-1-1.MAI']);
  });
});
