/** Whatever a lock is called, nothing but a lock comes of it, also where values are in the text. */
import { afterEach, expect, test } from 'vitest';
import { startPgbouncer } from '../../servers/pgbouncer.ts';
import { expectOnlyLocks } from '../sql/hostile-names.ts';
import { CLIENTS, sharedServer } from './bed.ts';

const { bed, server } = await sharedServer();
const pooler = bed.serve(await startPgbouncer(server, { mode: 'transaction' }));
afterEach(async () => {
  expect(await server.query('SELECT FROM holdfast.store')).toHaveLength(1);
});

test.each(CLIENTS)('%s', (client) => expectOnlyLocks(bed.store(server, { client }), `${client}:`));

test.each(CLIENTS)('%s, with standard_conforming_strings off, behind a pooler', async (client) => {
  await server.query('ALTER DATABASE postgres SET standard_conforming_strings = off');
  await expectOnlyLocks(bed.store(pooler, { client }), `pooled ${client}:`);
});
