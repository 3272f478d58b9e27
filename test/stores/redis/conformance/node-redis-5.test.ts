import { createClient } from 'redis5';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { single, suite } from './suite.ts';

suite(
  await single(async ({ url }) => {
    const client = await createClient({ url }).connect();
    return { client, end: () => client.destroy() };
  }),
  OF_CLIENT,
);
