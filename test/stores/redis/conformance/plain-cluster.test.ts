import { clustered, ioredisCluster } from './clusters.ts';
import { plainSuite } from './plain-suite.ts';

plainSuite(await clustered(ioredisCluster));
