/**
 * Ports that stay a test's own, even while nothing listens on them because the server was killed.
 *
 * They go in pairs: the even one is for the server, and this process listens on the odd one, so
 * that no other takes the pair. They lie below the ports that systems give to outgoing connections:
 * a connection to a dead server could be given that server's port, and so connect to itself.
 */
import { createServer, type Server } from 'node:net';

const FIRST = 21_000;
const PAIRS = 500;

const taken = new Map<number, Server>();

/** A free port on loopback, which is ours until it is given back. */
export async function freePort(): Promise<number> {
  const start = Math.floor(Math.random() * PAIRS);
  for (let n = 0; n < PAIRS; n += 1) {
    const port = FIRST + 2 * ((start + n) % PAIRS);
    const claimed = await listening(port + 1);
    if (claimed === undefined) continue;
    const probe = await listening(port);
    if (probe !== undefined) {
      await new Promise((resolve) => probe.close(resolve));
      taken.set(port, claimed);
      return port;
    }
    claimed.close();
  }
  throw new Error(`no port is free from ${FIRST} on`);
}

export function giveBack(port: number): void {
  taken.get(port)?.close();
  taken.delete(port);
}

function listening(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
