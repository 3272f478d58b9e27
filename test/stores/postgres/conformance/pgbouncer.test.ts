import postgres from 'postgres';
import { OF_CLIENT_UNLESS_WHOLE } from '../../../methods/conformance/of-client.ts';
import { startPgbouncer } from '../../../servers/pgbouncer.ts';
import { postgresSuite } from './suite.ts';

await postgresSuite(async (server) => {
  const pooler = await startPgbouncer(server, { mode: 'transaction' });
  return { client: postgres(pooler.url), pooler };
}, OF_CLIENT_UNLESS_WHOLE);
