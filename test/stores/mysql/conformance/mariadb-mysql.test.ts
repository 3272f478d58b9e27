import { createConnection } from 'mariadb';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { startMysql } from '../../../servers/mysql-server.ts';
import { place, suite } from './suite.ts';

const server = await startMysql();
suite(
  await place(server, await createConnection(server.url.replace('mysql:', 'mariadb:'))),
  OF_CLIENT,
);
