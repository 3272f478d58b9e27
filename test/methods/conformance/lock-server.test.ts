/** The store of the guide "Add a store", on a server of its own for each case. */
import type { AddressInfo } from 'node:net';
import { lockServer } from '../../../examples/lock-server/server.ts';
import { lockServerStore } from '../../../examples/lock-server/store.ts';
import { standing } from './standing.ts';
import { simulatedSuite } from './suite.ts';

simulatedSuite({
  async open(clock, { maxWaiters }) {
    const server = await lockServer({ port: 0, maxWaiters, quarantineMs: 0, clock });
    const { port } = server.address() as AddressInfo;
    const stand = standing(clock);
    return {
      connect: () => stand(lockServerStore(`http://127.0.0.1:${port}`)),
      dispose() {
        server.closeAllConnections();
        server.close();
      },
    };
  },
  // Each case costs as much as ten on a store in this process.
  oneIn: 3,
  traits: lockServerStore('http://unused').traits,
  lacks: ['claimAll', 'watch', 'downgrade', 'raise', 'evict', 'list', 'keep', 'recall', 'handOver'],
});
