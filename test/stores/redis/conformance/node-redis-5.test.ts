import { createClient } from 'redis5';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { redisSuite, single } from './suite.ts';

redisSuite(
  await single(async ({ url }) => {
    const client = await createClient({ url }).connect();
    return { client, end: () => client.destroy() };
  }),
  OF_CLIENT,
);
