import { createClient } from 'redis5';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { redisSuite, single } from './suite.ts';

redisSuite(await single(({ url }) => createClient({ url }).connect()), OF_CLIENT);
