import { clustered, ioredisCluster } from './clusters.ts';
import { redisSuite } from './suite.ts';

redisSuite(await clustered(ioredisCluster));
