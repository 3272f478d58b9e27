import { createPool } from 'mariadb';
import { startMariadb } from '../../../servers/mariadb-server.ts';
import { mysqlSuite } from './suite.ts';

const server = await startMariadb();
await mysqlSuite(server, createPool(server.url));
