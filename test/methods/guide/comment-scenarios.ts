/** The same for the examples in the comments of the sources. */
import { createElection } from 'holdfast/election';
import { expect } from 'vitest';
import { httpObjects } from '../../fences/numbers.ts';
import { ObjectServer } from '../../fences/object-server.ts';
import { until } from '../../support/until.ts';
import {
  givenJob,
  hold,
  holdShortly,
  ledThrice,
  loseReport,
  nobodyHolds,
  ofPage,
  printed,
  resignInTime,
  type Scenario,
} from './scenario.ts';
import type { World } from './world.ts';

/** The lease that the example takes as given: of this process, and still held. */
const givenLease = async (world: World): Promise<void> => {
  world.names.lease = await world.locks.mutex('any', { ttl: '2s' }).acquire();
};

const serveObjects = async ({ names }: World): Promise<void> => {
  const { url } = await ObjectServer.start();
  names.objects = httpObjects({ url });
};

/** What listens to the signal is asked to act, as if it had come. */
const terminate = async ({ locks }: World): Promise<void> => {
  const [listener] = process.rawListeners('SIGTERM').slice(-1);
  listener?.();
  expect(process.rawListeners('SIGTERM')).not.toContain(listener);
  await until(() =>
    locks
      .mutex('any')
      .tryAcquire()
      .then(
        () => false,
        () => true,
      ),
  );
};

export const COMMENTS: readonly Scenario[] = [
  ...ofPage('src/core/events.ts', {
    "locks.on('lost'": {
      async after(world) {
        await loseReport(world);
        await printed(world, 'report evicted');
      },
    },
  }),
  ...ofPage('src/fences/objects/fence.ts', { 'entry.write': { before: serveObjects } }),
  ...ofPage('src/clients/objects/probe.ts', { 'probeObjects(': { before: serveObjects } }),
  ...ofPage('src/core/lease.ts', {
    'lease.assertHeld()': { before: givenLease },
    'lease.renew()': { before: givenLease },
    'lease.handOver()': { before: givenLease },
  }),
  // The method is not called: a decorator needs no more.
  ...ofPage('src/integrations/decorator/locked.ts', { 'class Orders': { uncalled: ['ship'] } }),
  ...ofPage('src/locks.ts', {
    'locks.resume(': { before: givenJob },
    "process.once('SIGTERM'": { after: terminate },
  }),
  ...ofPage('src/operators/evict.ts', {
    'evict(locks': { before: holdShortly('report'), after: nobodyHolds('report') },
  }),
  ...ofPage('src/jobs/election/index.ts', {
    'await lead(': { before: resignInTime, after: ledThrice },
    'election.observe()': {
      async meanwhile(world) {
        await printed(world, '[]');
        createElection(world.others, 'scheduler').campaign({ label: 'worker 3' });
        await printed(world, "[ 'worker 3' ]");
        await world.locks.close();
      },
    },
  }),
  ...ofPage('src/primitives/lockable.ts', {
    'console.log(result.why': { before: hold('report'), prints: 'held', uncalled: ['buildReport'] },
  }),
  ...ofPage('src/testkit/conformance.ts', { 'conformance({': { after: runFirstCase } }),
  ...ofPage('src/testkit/fence-conformance.ts', { 'fenceConformance({': { after: runFirstCase } }),
  ...ofPage('src/testkit/counting-store.ts', { 'countingStore(': { prints: '3 1' } }),
];

async function runFirstCase({ cases }: World): Promise<void> {
  expect(cases.length).toBeGreaterThan(5);
  await cases[0]?.();
}
