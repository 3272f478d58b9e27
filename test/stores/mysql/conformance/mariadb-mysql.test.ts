import { createConnection } from 'mariadb';
import { startMysql } from '../../../servers/mysql-server.ts';
import { place, suite } from './suite.ts';

const server = await startMysql();
suite(await place(server, await createConnection(server.url.replace('mysql:', 'mariadb:'))));
