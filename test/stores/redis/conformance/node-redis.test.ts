import { createClient } from 'redis';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { type Connect, redisSuite, restartSetBack, single } from './suite.ts';

const connect: Connect = async ({ url }) => {
  const client = createClient({ url });
  // Its server crashes.
  client.on('error', () => {});
  return client.connect();
};

redisSuite(await single(connect, { forget: restartSetBack }), OF_CLIENT);
