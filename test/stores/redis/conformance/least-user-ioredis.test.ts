import { byIoredis, leastUser } from '../least-user.ts';
import { suite } from './suite.ts';

suite(await leastUser(byIoredis));
