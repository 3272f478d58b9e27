import { redissonSuite } from './suite.ts';

await redissonSuite('fair', ['downgrade']);
