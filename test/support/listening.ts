import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Lets the server listen on this machine, at a port that is free; answers which one it is. */
export async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
