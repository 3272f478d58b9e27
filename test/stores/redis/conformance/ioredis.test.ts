import { ioredis, redisSuite, single } from './suite.ts';

redisSuite(await single(ioredis));
