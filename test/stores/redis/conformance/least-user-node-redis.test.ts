import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { byNodeRedis, leastUser } from '../least-user.ts';
import { redisSuite } from './suite.ts';

redisSuite(await leastUser(byNodeRedis), OF_CLIENT);
