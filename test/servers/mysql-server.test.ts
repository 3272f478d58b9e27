import { readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { MARIADB } from './mariadb-server.ts';
import { MYSQL, newData } from './mysql-server.ts';
import { findProgram, missing } from './programs.ts';
import { serverFolder } from './server-process.ts';

const PRODUCTS = [
  { name: 'mariadb', product: MARIADB },
  { name: 'mysql', product: MYSQL },
] as const;

describe.for(PRODUCTS)('a server of $name', ({ name, product }) => {
  beforeEach(async ({ skip }) => {
    const why = await missing(name);
    skip(why !== undefined, why);
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
