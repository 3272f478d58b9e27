import { byNodeRedis, leastUser } from '../least-user.ts';
import { suite } from './suite.ts';

suite(await leastUser(byNodeRedis));
