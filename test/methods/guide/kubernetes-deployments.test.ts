/** The code of docs/guide/kubernetes-deployments.md, as a cluster would use it. */
import type { Server } from 'node:http';
import { createLocks, type Locks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { sqliteStore } from 'holdfast/sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { gate } from '../../support/gate.ts';
import { portOf } from '../../support/listening.ts';
import { serveProbes, startWorker, stopOnSigterm } from './probes.ts';
import { expectShown } from './shown.ts';

async function probesOf(locks: Locks): Promise<{ server: Server; ask: typeof fetch }> {
  const server = serveProbes(locks);
  onTestFinished(() => void server.close());
  const port = await portOf(server);
  return { server, ask: (path) => fetch(`http://127.0.0.1:${port}${path}`) };
}

/** As if the signal had come, for the listener that was added last. */
function terminate(): void {
  const [listener] = process.rawListeners('SIGTERM').slice(-1);
  listener?.('SIGTERM');
}

it('shows these programs', () => {
  expectShown('kubernetes-deployments.md', new URL('probes.ts', import.meta.url));
});

it('is ready while the store replies, and alive in any case', async () => {
  const { ask } = await probesOf(createLocks(memoryStore()));
  expect((await ask('/readyz')).status).toBe(200);
  const away = await probesOf(createLocks(sqliteStore('/no/such/folder/locks.db')));
  expect((await away.ask('/readyz')).status).toBe(503);
  expect((await away.ask('/livez')).status).toBe(200);
});

it('takes no more requests at SIGTERM, and lets work finish', async () => {
  const locks = createLocks(memoryStore());
  const { server } = await probesOf(locks);
  const { opened, open } = gate();
  const work = locks.mutex('order').run(async ({ held }) => {
    await opened;
    return held;
  });
  await locks.inspect('order');
  stopOnSigterm(server, locks);
  terminate();
  await expect(locks.mutex('other').acquire()).rejects.toMatchObject({ code: 'CLOSED' });
  expect(server.listening).toBe(false);
  open();
  expect(await work).toBe(true);
});

it('closes the locks of a worker', () => {
  const before = process.listenerCount('SIGTERM');
  const locks = createLocks(memoryStore());
  startWorker(locks);
  expect(process.listenerCount('SIGTERM')).toBe(before + 1);
  return locks.close();
});
