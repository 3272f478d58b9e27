import type { Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { portOf } from './listening.ts';

/** Closes it when the test is over. */
export function closing<T extends { close?(): unknown }>(thing: T): T {
  onTestFinished(async () => void (await thing.close?.()));
  return thing;
}

/** The port of the server, which ends with the test, and all its connections with it. */
export function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return portOf(server);
}
