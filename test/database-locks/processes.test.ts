/** Eight processes sell the same stock. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sqlFence } from 'holdfast/fence';
import { expect, onTestFinished, test } from 'vitest';
import { databaseFile } from '../methods/processes/child.ts';
import { PRODUCTS, useServer } from './bed.ts';
import { numberLeft, on } from './clients.ts';

const WORKERS = 8;
const STOCK = 20;
const SELLER = fileURLToPath(new URL('children/seller.ts', import.meta.url));

interface Sold {
  readonly type: 'sold';
  readonly way: string;
  readonly sold: number;
}

/** Eight processes, which begin with each way together; and what each sold. */
async function sellers(optionsOf: (n: number) => object): Promise<Sold[]> {
  const sold: Sold[] = [];
  let ready = 0;
  const children = Array.from({ length: WORKERS }, (_, n) =>
    fork(SELLER, [JSON.stringify(optionsOf(n))], {
      execArgv: ['--import', './scripts/sources.mjs'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  for (const child of children) {
    child.on('message', (message: Sold | { readonly type: 'ready' }) => {
      if (message.type === 'sold') sold.push(message);
      else ready++;
      if (ready < WORKERS) return;
      ready = 0;
      for (const each of children) each.send('go');
    });
  }
  const ends = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
  expect(await Promise.all(ends)).toEqual(children.map(() => 0));
  return sold;
}

for (const product of PRODUCTS) {
  const server = useServer(product);
  test(`nothing is sold twice on ${product.name}`, async () => {
    const client = product.plain(server.url);
    const seats = Array.from({ length: STOCK }, (_, n) => `seat ${n}`);
    await on(client.db).count(sqlFence({ dialect: client.dialect }).schema);
    for (const id of ['row lock', 'version', 'fence', ...seats]) {
      await on(client.db).count('INSERT INTO stock (id, n) VALUES (?, ?)', [id, STOCK]);
    }
    const names = Object.keys(product.clients);
    const options = { url: server.url, file: databaseFile(), seats };
    const all = await sellers((n) => {
      // Each begins elsewhere, or the quickest would be the first at every seat.
      const at = Math.floor((n * STOCK) / WORKERS);
      const turned = [...seats.slice(at), ...seats.slice(0, at)];
      return { ...options, seats: turned, name: names[n % names.length] };
    });
    for (const way of ['row lock', 'version', 'state', 'fence']) {
      const each = all.filter((one) => one.way === way).map(({ sold }) => sold);
      expect([way, each.reduce((sum, sold) => sum + sold, 0)]).toEqual([way, STOCK]);
      // One alone would show nothing.
      expect(each.filter((sold) => sold > 0).length, way).toBeGreaterThan(1);
    }
    for (const id of ['row lock', 'version', 'fence']) {
      expect([id, await numberLeft(client.db, id)]).toEqual([id, 0]);
    }
    await client.close();
  });
}
