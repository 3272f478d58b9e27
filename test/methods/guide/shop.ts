/** Requests to the service of the page on fences, as callers send them, early and late. */
import { fenceHeaders } from 'holdfast/fence';
import { expect } from 'vitest';
import { portOf } from '../../support/listening.ts';
import { countStock } from './reader.ts';
import { SKU, type World } from './world.ts';

export async function askShop({ servers, others, db }: World): Promise<void> {
  const [server] = servers;
  if (!server) throw new Error('no server');
  const port = await portOf(server);
  const ask = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/`, { headers: { ...headers, connection: 'close' } }))
      .status;
  const headersOfNext = (): Promise<Record<string, string>> =>
    others.mutex(`stock:${SKU}`).run((lease) => fenceHeaders(lease));

  const [early, late] = [await headersOfNext(), await headersOfNext()];
  expect([await ask(early), await ask(late), await ask(early), await ask({})]).toEqual([
    ...[200, 200, 409, 400],
  ]);
  expect(countStock(db, SKU)).toBe(1);
}
