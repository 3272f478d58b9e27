import { expect, it } from 'vitest';
import { closing } from '../support/closing.ts';
import { startEtcd } from './etcd-server.ts';
import { standsStill, stateOf } from './process-table.ts';

it('a server that was told to stand still serves no moment longer', async () => {
  // It has many threads, which are still at work on the last request.
  const server = closing(await startEtcd());
  for (let n = 0; n < 100; n++) {
    await fetch(`http://${server.host}:${server.port}/metrics`).then((reply) => reply.text());
    server.pause();
    expect(standsStill(server.pid)).toBe(true);
    expect(stateOf(server.pid)).toBe('T');
    server.resume();
  }
});
