import { plainSuite } from './plain-suite.ts';
import { ioredis, restartSetBack, single } from './suite.ts';

plainSuite(await single(ioredis, { forget: restartSetBack }));
