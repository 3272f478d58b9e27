import postgres from 'postgres';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { postgresSuite } from './suite.ts';

await postgresSuite(({ url }) => ({ client: postgres(url) }), OF_CLIENT);
