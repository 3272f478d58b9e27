/** Connections of stores for each request, by what clients show of where they connect to. */
import { createPool } from 'mysql2/promise';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { expect, it, onTestFinished, vi } from 'vitest';

/** The warning comes once in a process, so each test has the module anew. */
async function freshly() {
  vi.resetModules();
  const { countConnection } = await import('../../src/clients/counted.ts');
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => warned.mockRestore());
  // Kept, as connections keep them.
  const open: AbortController[] = [];
  const count = (place: object): AbortController => {
    const closing = new AbortController();
    open.push(closing);
    countConnection(place, closing.signal);
    return closing;
  };
  return { count, open, warned };
}

it.each<[string, (port: number) => object]>([
  ['settings of a client of Redis', (port) => ({ host: 'a', port, db: 1 })],
  ['Sentinels', (port) => ({ sentinels: [{ host: 'a', port }], name: 'main' })],
  ['databases of one server', (db) => ({ host: 'a', port: 1, db })],
  ['pg', (port) => new Pool({ host: 'a', port })],
  ['pg, by a URL', (port) => new Pool({ connectionString: `postgres://a:${port}` })],
  ['one client of pg', (port) => new Client({ host: 'a', port })],
  ['postgres.js', (port) => postgres({ host: 'a', port })],
  ['mysql2', (port) => createPool({ host: 'a', port })],
  ['mysql2, with callbacks', (port) => createPool({ host: 'a', port }).pool],
])('%s: more than twenty to one place', async (_, at) => {
  const { count, open, warned } = await freshly();
  for (let n = 0; n < 20; n++) {
    count(at(1));
    count(at(2));
  }
  expect(warned).not.toHaveBeenCalled();
  count(at(1));
  count(at(2));
  expect(open).toHaveLength(42);
  expect(warned.mock.calls).toEqual([
    [
      expect.stringMatching(/more than 20 connections .* locks\.close\(\).*#too-many-stores/),
      expect.objectContaining({ code: 'HOLDFAST_MANY_STORES' }),
    ],
  ]);
});

it('what is closed does not count, nor what does not say where it leads to', async () => {
  const { count, warned } = await freshly();
  const place = { host: 'a', port: 1 };
  for (let n = 0; n < 30; n++) count(place).abort();
  for (let n = 0; n < 30; n++) count({});
  for (let n = 0; n < 20; n++) count(place);
  expect(warned).not.toHaveBeenCalled();
});
