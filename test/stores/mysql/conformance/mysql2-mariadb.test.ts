import { createPool } from 'mysql2/promise';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { startMariadb } from '../../../servers/mariadb-server.ts';
import { mysqlSuite } from './suite.ts';

const server = await startMariadb();
await mysqlSuite(server, createPool(server.url.replace('mariadb:', 'mysql:')), OF_CLIENT);
