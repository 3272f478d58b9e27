import { Redis } from 'ioredis5';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { redisSuite, single } from './suite.ts';

redisSuite(await single(async ({ url }) => new Redis(url)), OF_CLIENT);
