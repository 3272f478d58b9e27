/** Fenced locks: what becomes of them when a session ends, or when a claim gives up. */
import type { Client } from 'hazelcast-client';
import { createLocks, type Locks } from 'holdfast';
import { fencedLockStore } from 'holdfast/hazelcast';
import { expect, test } from 'vitest';
import { missingHazelcast, SESSION_TTL_S } from '../../servers/hazelcast-cluster.ts';
import { paced } from '../../support/this-run.ts';
import { sharedServer } from '../document/service.ts';
import { startWithClients } from './with-clients.ts';

const TERMS = { sessionTtl: SESSION_TTL_S * 1000 };

/** Two programs, each with a client of its own. */
const shared = sharedServer(await missingHazelcast(), async () => {
  const { clients, close } = await startWithClients(2);
  const programs = clients.map((client) =>
    createLocks(fencedLockStore(client, TERMS), { ttl: paced(3000) }),
  );
  return {
    ...{ clients, programs },
    async close() {
      for (const locks of programs) await locks.close({ drain: 0 });
      await close();
    },
  };
});

/** Of the client, and not of its public interface. */
interface Sessions {
  readonly sessions: ReadonlyMap<string, { readonly groupId: object; readonly id: object }>;
  requestCloseSession(groupId: object, id: object): Promise<boolean>;
}

const SESSIONS = 'cpSessionManager';

type Subsystem = { [SESSIONS]: Sessions };

/** In the members, as an operator closes it; the client does not know. */
async function closeSessions(client: Client): Promise<void> {
  const inside = (client.getCPSubsystem() as unknown as Subsystem)[SESSIONS];
  for (const { groupId, id } of inside.sessions.values()) {
    await inside.requestCloseSession(groupId, id);
  }
}

test('a lease whose session was closed is lost, and a new one is in a new session', async () => {
  const [ours, theirs] = shared().programs as [Locks, Locks];
  const lease = await ours.mutex('closed').acquire();
  const waiting = theirs.mutex('closed').acquire();
  await closeSessions(shared().clients[0] as Client);
  const next = await waiting;
  await lease.ended;
  expect(lease.loss).toMatchObject({ reason: 'session' });
  expect(next.token).toBeGreaterThan(lease.token);
  const again = ours.mutex('closed').acquire();
  await next.release();
  await (await again).renew();
  await (await again).release();
});

/** Record 96: so a claim cannot be a permit of an `ISemaphore`. */
test('a semaphore takes a late release for that of a later hold', async () => {
  const [client, other] = shared().clients as [Client, Client];
  const semaphore = await client.getCPSubsystem().getSemaphore('late');
  await semaphore.init(1);
  await semaphore.acquire();
  await closeSessions(client);
  // The only permit, in another session, which the client has taken in silence.
  await semaphore.acquire();
  const theirs = await other.getCPSubsystem().getSemaphore('late');
  expect(await theirs.tryAcquire()).toBe(false);
  // Meant for the hold that ended with its session.
  await semaphore.release();
  expect(await theirs.tryAcquire()).toBe(true);
});

test('a claim that gave up gives back what it gets, and one that stays is next', async () => {
  const [ours, theirs] = shared().programs as [Locks, Locks];
  const lease = await ours.mutex('given up').acquire();
  await expect(theirs.mutex('given up').acquire({ wait: 200 })).rejects.toMatchObject({
    code: 'ACQUIRE_TIMEOUT',
  });
  await lease.release();
  const next = await ours.mutex('given up').acquire({ wait: paced(5000) });
  await next.release();
});

test('a TTL that is longer than the session is refused', () => {
  const [ours] = shared().programs as [Locks];
  expect(() => ours.mutex('long', { ttl: '1m' })).toThrow(/more than maxTtl/);
});
