import { OF_CLIENT_UNLESS_WHOLE } from '../../../methods/conformance/of-client.ts';
import { leastUser } from '../least-user.ts';
import { LATEST } from '../packages.ts';
import { redisSuite } from './suite.ts';

const [ioredis] = LATEST;

redisSuite(await leastUser(ioredis!), OF_CLIENT_UNLESS_WHOLE);
