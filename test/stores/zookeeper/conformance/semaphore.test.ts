import { suite } from './suite.ts';

await suite({}, 'semaphore');
