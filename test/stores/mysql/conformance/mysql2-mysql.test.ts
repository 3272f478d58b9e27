import { createPool } from 'mysql2';
import { startMysql } from '../../../servers/mysql-server.ts';
import { mysqlSuite } from './suite.ts';

const server = await startMysql();
await mysqlSuite(server, createPool(server.url));
