/** The same for the examples in the comments of the sources. */
import { createElection } from 'holdfast/election';
import { expect } from 'vitest';
import { httpObjects } from '../../fences/numbers.ts';
import { ObjectServer } from '../../fences/object-server.ts';
import {
  hold,
  holdShortly,
  ledThrice,
  loseReport,
  nobodyHolds,
  printed,
  resignInTime,
  type Scenario,
  until,
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
  {
    page: 'src/core/events.ts',
    has: "locks.on('lost'",
    async after(world) {
      await loseReport(world);
      await printed(world, 'report evicted');
    },
  },
  { page: 'src/fences/objects/fence.ts', has: 'entry.write', before: serveObjects },
  { page: 'src/clients/objects/probe.ts', has: 'probeObjects(', before: serveObjects },
  { page: 'src/core/lease.ts', has: 'lease.assertHeld()', before: givenLease },
  { page: 'src/core/lease.ts', has: 'lease.renew()', before: givenLease },
  // The method is not called: a decorator needs no more.
  { page: 'src/integrations/decorator/locked.ts', has: 'class Orders', uncalled: ['ship'] },
  { page: 'src/locks.ts', has: "process.once('SIGTERM'", after: terminate },
  {
    page: 'src/operators/evict.ts',
    has: 'evict(locks',
    before: holdShortly('report'),
    after: nobodyHolds('report'),
  },
  {
    page: 'src/jobs/election/election.ts',
    has: 'await lead(',
    before: resignInTime,
    after: ledThrice,
  },
  {
    page: 'src/jobs/election/election.ts',
    has: 'election.observe()',
    async meanwhile(world) {
      await printed(world, '[]');
      createElection(world.others, 'scheduler').campaign({ label: 'worker 3' });
      await printed(world, "[ 'worker 3' ]");
      await world.locks.close();
    },
  },
  {
    page: 'src/primitives/lockable.ts',
    has: 'console.log(result.why',
    before: hold('report'),
    prints: 'held',
    uncalled: ['buildReport'],
  },
  {
    page: 'src/testkit/conformance.ts',
    has: 'conformance({',
    after: runFirstCase,
  },
  {
    page: 'src/testkit/fence-conformance.ts',
    has: 'fenceConformance({',
    after: runFirstCase,
  },
  { page: 'src/testkit/counting-store.ts', has: 'countingStore(', prints: '3 1' },
];

async function runFirstCase({ cases }: World): Promise<void> {
  expect(cases.length).toBeGreaterThan(5);
  await cases[0]?.();
}
