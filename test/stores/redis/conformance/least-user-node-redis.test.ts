import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { byNodeRedis, leastUser } from '../least-user.ts';
import { suite } from './suite.ts';

suite(await leastUser(byNodeRedis), OF_CLIENT);
