/** Starts a PostgreSQL, says its pid, and stays until it is killed. */
import { startPostgres } from '../postgres-server.ts';

const server = await startPostgres();
console.log(server.pid);
setInterval(() => {}, 60_000);
