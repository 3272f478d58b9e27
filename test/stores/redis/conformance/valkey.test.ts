import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { ioredis, redisSuite, restartEmpty, single } from './suite.ts';

redisSuite(await single(ioredis, { program: 'valkey', forget: restartEmpty }), OF_CLIENT);
