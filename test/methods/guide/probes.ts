/** What docs/guide/kubernetes-deployments.md shows. */
import { createServer, type Server } from 'node:http';
import { closeOnSignal, type Locks, ready } from 'holdfast';

export function serveProbes(locks: Locks): Server {
  return createServer(async (request, response) => {
    const good = request.url === '/livez' || (await isReady(locks));
    response.writeHead(good ? 200 : 503).end();
  });
}

/** One round trip to the store; it takes no lock. */
function isReady(locks: Locks): Promise<boolean> {
  return ready(locks).then(
    () => true,
    () => false,
  );
}

export function startWorker(locks: Locks): void {
  closeOnSignal(locks);
}

export function stopOnSigterm(server: Server, locks: Locks): void {
  process.once('SIGTERM', () => {
    server.close();
    void locks.close({ drain: '20s' });
  });
}
