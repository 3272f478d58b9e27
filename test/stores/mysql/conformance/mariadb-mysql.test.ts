import { createConnection } from 'mariadb';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { startMysql } from '../../../servers/mysql-server.ts';
import { mysqlSuite, place } from './suite.ts';

const server = await startMysql();
mysqlSuite(
  await place(server, await createConnection(server.url.replace('mysql:', 'mariadb:'))),
  OF_CLIENT,
);
