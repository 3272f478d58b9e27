import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { portOf } from '../support/listening.ts';
import { reset } from './reset.ts';

async function connection(): Promise<{ server: Socket; client: Socket }> {
  const listener = createServer();
  const port = await portOf(listener);
  onTestFinished(() => void listener.close());
  const accepted = once(listener, 'connection');
  const client = connect(port, '127.0.0.1').resume();
  const [server] = (await accepted) as [Socket];
  return { server, client };
}

test('the other end is told of a reset', async () => {
  const { server, client } = await connection();
  const told = once(client, 'error');
  reset(server);
  expect((await told)[0]).toMatchObject({ code: 'ECONNRESET' });
});

test('a connection whose end is being sent closes as well', async () => {
  const { server, client } = await connection();
  // Rejects at an error.
  const closed = Promise.all([once(server, 'close'), once(client, 'close')]);
  server.end('x');
  reset(server);
  await closed;
});
