/** The network between a process and the server is gone, halfway gone, or slow. */
import type { HeldStatus } from 'holdfast/store';
import { describe, expect, test } from 'vitest';
import { patiently } from '../../support/patiently.ts';
import { watchOutcome } from '../../support/scripted-store.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import type { Bed, Place, StoreOptions } from './bed.ts';
import { claimOf, hasWaiter, inBeds, sleep, TTL_MS } from './bed.ts';
import { firstGrant, Scene } from './scene.ts';

/** A dead connection is given up after three seconds; a heartbeat must fit in after that. */
const PATIENT_TTL_MS = paced(8000);

/** For each way to connect, by name. */
export function holdersFaults<Options extends StoreOptions, At extends Place>(
  newBed: () => Bed<Options, At>,
  clients: Readonly<Record<string, Options>>,
): void {
  const inBed = inBeds(newBed);
  describe.concurrent.each(Object.entries(clients))('%s: a holder', (_, options) => {
    for (const [title, flow, way] of [
      ['in a black hole (swallow) is told by its own clock', 'swallow', 'both'],
      ['in a black hole (hold) is told by its own clock', 'hold', 'both'],
      ['that hears no answers is told, though its heartbeats arrive', 'swallow', 'toClient'],
    ] as const) {
      inBed(title, async (bed) => {
        const { server, proxy } = await bed.behindProxy();
        const scene = await Scene.set(bed, { holder: proxy, others: server, options });
        (way === 'both' ? proxy : proxy.toClient).set({ flow });
        await scene.expectSucceeded();
        expect(scene.reasons).toEqual(['expired', 'expired']);
        proxy.set();
        // Everything works again on the far side of the proxy.
        await (await patiently(bed.locks(proxy, options).mutex('afterwards'))).release();
        await scene.leave(server);
      });
    }

    inBed('whose connections are reset goes on', async (bed) => {
      const { server, proxy } = await bed.behindProxy();
      const ttl = 3 * TTL_MS;
      const scene = await Scene.set(bed, { holder: proxy, others: proxy, options, ttl });
      proxy.reset();
      // Longer than a TTL: without heartbeats afterwards it would be dead.
      await scene.expectUndisturbed(ttl * 1.2);
      await scene.leave(server);
    });

    inBed('whose connections are half-open makes new ones in time', async (bed) => {
      const { server, proxy } = await bed.behindProxy();
      const ttl = PATIENT_TTL_MS;
      const scene = await Scene.set(bed, { holder: proxy, others: server, options, ttl });
      proxy.halfOpen();
      await scene.renewedSince(performance.now());
      const { lease } = scene.queued;
      await until('got over it the holder', async () => lease.state !== 'unconfirmed');
      expect(lease.state).toBe('held');
      await scene.expectUndisturbed(0);
      await scene.leave(server);
    });
  });
}

/** Why what one store sent cannot come through another. */
const BOUND = 'not promised: a claim belongs to the session that it was sent in';

/**
 * Requests and answers that arrive after their time, or not at all.
 *
 * @param options `copies`, by default true: what one store sent may come through another, too, and
 *   be the same claim.
 */
export function lateness(
  newBed: () => Bed,
  { copies = true }: { readonly copies?: boolean } = {},
): void {
  const inBed = inBeds(newBed);
  inBed('a message of a grant that has ended meanwhile grants nothing', async (bed) => {
    const { server, proxy } = await bed.behindProxy();
    const [holding, waiting] = [bed.locks(server), bed.locks(proxy)];
    const lease = await patiently(holding.mutex('ended'));
    const next = patiently(waiting.mutex('ended'));
    const outcome = watchOutcome(next);
    await hasWaiter(holding, 'ended');
    proxy.toClient.set({ flow: 'hold' });
    await lease.release();
    // The waiter was admitted, does not hear of it, and dies.
    const prober = bed.store(server);
    const grant = await firstGrant(prober, 'ended');
    proxy.set();
    // What was held back arrives at once; then a heartbeat follows.
    await sleep(TTL_MS / 2);
    expect(outcome.done).toBe(false);
    await prober.release([grant.claim]);
    expect((await next).token).toBeGreaterThan(grant.token * 1024n);
  });

  test.concurrent('a claim that its release overtook enters no queue', async (context) => {
    context.skip(!copies, BOUND);
    await using bed = newBed();
    const { server, proxy } = await bed.behindProxy();
    const [slow, fast] = [bed.store(proxy), bed.store(server)];
    await slow.inspect('overtaken');
    const claim = claimOf('overtaken');
    proxy.toServer.set({ flow: 'hold' });
    const late = slow.claim([claim]);
    await expect(fast.release([{ ...claim, unanswered: true }])).resolves.toEqual([false]);
    proxy.set();
    expect(await late).toEqual([{ state: 'gone', why: 'unknown' }]);
    // Nor does any further copy, or a heartbeat.
    expect(await slow.claim([claim])).toEqual([{ state: 'gone', why: 'unknown' }]);
    expect(await slow.renew([claim])).toEqual([{ state: 'gone', why: 'unknown' }]);
    const { holders, waiters } = await fast.inspect('overtaken');
    expect([...holders, ...waiters]).toEqual([]);
  });

  inBed('a heartbeat that the release overtook revives nothing', async (bed) => {
    const { server, proxy } = await bed.behindProxy();
    const [slow, fast] = [bed.store(proxy), bed.store(server)];
    const [claim, next] = [claimOf('overtaken'), claimOf('overtaken')];
    await slow.claim([claim]);
    // What heartbeats go through is there, too.
    await slow.renew([claim]);
    proxy.toServer.set({ flow: 'hold' });
    const late = slow.renew([claim]);
    await fast.release([{ ...claim, unanswered: true }]);
    expect(await fast.claim([next])).toMatchObject([{ state: 'held' }]);
    proxy.set();
    expect(await late).toMatchObject([{ state: 'gone' }]);
    expect((await fast.inspect('overtaken')).holders).toHaveLength(1);
  });

  inBed('a heartbeat of the dead revives nothing', async (bed) => {
    const store = bed.store(await bed.server());
    // A call waits no longer than its claim lives, and this one has a connection to make first.
    const shortly = { ttlMs: TTL_MS };
    const [alone, holder, first] = [claimOf('alone', shortly), claimOf('held'), claimOf('held')];
    const second = claimOf('held', shortly);
    const states: string[] = [];
    for (const claim of [alone, holder, first, second]) {
      states.push(...(await store.claim([claim])).map(({ state }) => state));
    }
    expect(states).toEqual(['held', 'held', 'waiting', 'waiting']);
    // Longer than the two live.
    await sleep(1.1 * TTL_MS);
    const late = await store.renew([alone, second]);
    expect(late).toEqual([
      { state: 'gone', why: 'expired' },
      { state: 'gone', why: 'expired' },
    ]);
    expect((await store.inspect('held')).waiters).toHaveLength(1);
  });

  test.concurrent('two copies of a claim are one claim', async (context) => {
    context.skip(!copies, BOUND);
    await using bed = newBed();
    const { server, proxy } = await bed.behindProxy();
    const [slow, fast] = [bed.store(proxy), bed.store(server)];
    await slow.inspect('twice');
    const [holder, waiter] = [claimOf('twice'), claimOf('twice')];
    proxy.toServer.set({ flow: 'hold' });
    const late = [slow.claim([holder]), slow.claim([waiter])];
    const first = [...(await fast.claim([holder])), ...(await fast.claim([waiter]))];
    proxy.set();
    const second = (await Promise.all(late)).flat();
    expect(first).toMatchObject([{ state: 'held' }, { state: 'waiting', ahead: 1 }]);
    const { token } = first[0] as HeldStatus;
    expect(second).toMatchObject([{ state: 'held', token }, { ahead: 1 }]);
    const { holders, waiters } = await fast.inspect('twice');
    expect([holders.length, waiters.length]).toEqual([1, 1]);
  });

  inBed('an answer that is lost with the connection is asked for again', async (bed) => {
    const { server, proxy } = await bed.behindProxy();
    const locks = bed.patientLocks(proxy);
    // Its connections are there, so that the next answer is the one to the claim.
    await (await locks.mutex('ambiguous').acquire()).release();
    // The claim arrives and its answer does not.
    proxy.toClient.set({ cutAfter: 0 });
    const lease = await locks.mutex('ambiguous').acquire();
    const { holders, waiters } = await locks.inspect('ambiguous');
    expect(holders.map(({ number }) => number)).toEqual([lease.token]);
    expect(waiters).toEqual([]);
    await lease.release();
    await bed.leave();
    expect(await bed.store(server).inspect('ambiguous')).toMatchObject({ holders: [] });
  });

  inBed('a try whose answer is lost leaves nothing behind', async (bed) => {
    const { server, proxy } = await bed.behindProxy();
    // They live longer than the test: if one stayed, it would be seen.
    const locks = bed.patientLocks(proxy);
    await (await locks.mutex('ambiguous').acquire()).release();
    proxy.toClient.set({ cutAfter: 0 });
    const failed = { code: 'STORE', outcome: 'unknown', retryable: true };
    await expect(locks.mutex('ambiguous').tryAcquire()).rejects.toMatchObject(failed);
    const other = bed.patientLocks(server);
    await (await other.mutex('ambiguous').acquire()).release();
  });
}
