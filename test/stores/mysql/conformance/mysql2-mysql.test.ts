import { createPool } from 'mysql2';
import { startMysql } from '../../../servers/mysql-server.ts';
import { mysqlSuite, place } from './suite.ts';

const server = await startMysql();
mysqlSuite(await place(server, createPool(server.url)));
