import { redissonSuite } from './suite.ts';

await redissonSuite('lock', []);
