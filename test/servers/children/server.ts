/** Starts a server, says its pid, and stays until it is killed. */
import { RedisServer } from '../redis-server.ts';

const server = await RedisServer.start();
console.log(server.pid);
setInterval(() => {}, 60_000);
