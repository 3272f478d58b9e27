import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { ioredis, redisSuite, single } from './suite.ts';

redisSuite(await single(ioredis, { program: 'redis-8' }), OF_CLIENT);
