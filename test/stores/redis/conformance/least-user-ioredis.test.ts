import { OF_CLIENT_UNLESS_WHOLE } from '../../../methods/conformance/of-client.ts';
import { byIoredis, leastUser } from '../least-user.ts';
import { redisSuite } from './suite.ts';

redisSuite(await leastUser(byIoredis), OF_CLIENT_UNLESS_WHOLE);
