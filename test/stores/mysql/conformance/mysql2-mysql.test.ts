import { createPool } from 'mysql2';
import { startMysql } from '../../../servers/mysql-server.ts';
import { place, suite } from './suite.ts';

const server = await startMysql();
suite(await place(server, createPool(server.url)));
