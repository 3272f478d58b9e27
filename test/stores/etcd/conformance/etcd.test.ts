import { etcdSuite } from './suite.ts';

await etcdSuite();
