import { createConnection } from 'mariadb';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { startMysql } from '../../../servers/mysql-server.ts';
import { mysqlSuite } from './suite.ts';

const server = await startMysql();
const client = await createConnection(server.url.replace('mysql:', 'mariadb:'));
await mysqlSuite(server, client, OF_CLIENT);
