import { createPool } from 'mariadb';
import { startMariadb } from '../../../servers/mariadb-server.ts';
import { place, suite } from './suite.ts';

const server = await startMariadb();
suite(await place(server, createPool(server.url)));
