import { createPool } from 'mariadb';
import { startMariadb } from '../../../servers/mariadb-server.ts';
import { mysqlSuite, place } from './suite.ts';

const server = await startMariadb();
mysqlSuite(await place(server, createPool(server.url)));
