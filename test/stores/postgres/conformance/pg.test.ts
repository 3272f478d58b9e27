import { Pool } from 'pg';
import { postgresSuite } from './suite.ts';

await postgresSuite(({ url }) => ({ client: new Pool({ connectionString: url }) }));
