/** The store of the guide "Add a store", on a server of its own for each case. */
import type { AddressInfo } from 'node:net';
import { conformance } from 'holdfast/testkit';
import { test } from 'vitest';
import { lockServer } from '../../../examples/lock-server/server.ts';
import { lockServerStore } from '../../../examples/lock-server/store.ts';

conformance({
  test: test.concurrent,
  skip: (name, reason) => test.concurrent(name, (context) => context.skip(reason)),
  async create({ maxWaiters = 10_000 }) {
    const server = await lockServer({ port: 0, maxWaiters, quarantineMs: 0 });
    const { port } = server.address() as AddressInfo;
    return {
      connect: () => lockServerStore(`http://127.0.0.1:${port}`),
      dispose: () => void server.close(),
    };
  },
  traits: lockServerStore('http://unused').traits,
  lacks: ['watch', 'downgrade', 'raise', 'evict', 'list', 'keep', 'recall'],
});
