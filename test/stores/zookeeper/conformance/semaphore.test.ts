import { zookeeperSuite } from './suite.ts';

await zookeeperSuite('semaphore');
