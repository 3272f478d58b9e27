import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { leastUser } from '../least-user.ts';
import { LATEST } from '../packages.ts';
import { redisSuite } from './suite.ts';

const [, nodeRedis] = LATEST;

redisSuite(await leastUser(nodeRedis!), OF_CLIENT);
