/** A server dies or stands still, with what it has written down. */
import { expect } from 'vitest';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { type Bed, onServer, type Place, RESTART_TTL_MS, type StoreOptions } from './bed.ts';
import { Crowd } from './crowd.ts';
import { Scene } from './scene.ts';

export interface Mortal extends Place {
  kill(): Promise<void>;
  /** Again, with what it has kept. */
  start(): Promise<void>;
  /** Killed and started. */
  restart(): Promise<void>;
  pause(): void;
  resume(): void;
}

type NewBed = () => Bed<StoreOptions, Mortal>;

/** While it is away, its clients go by their own clocks. */
export function absentServer(newBed: NewBed): void {
  const it = onServer(newBed);

  for (const [absence, leave, comeBack] of [
    ['is dead for longer than a TTL', 'kill', 'start'],
    ['stands still past the TTL', 'pause', 'resume'],
  ] as const) {
    it(`${absence}: the holder is told by its clock`, async (bed, server) => {
      const scene = await Scene.set(bed, { holder: server, others: server });
      await server[leave]();
      await scene.expectExpired();
      await server[comeBack]();
      await scene.expectSucceeded();
      await scene.leave(server);
    });
  }

  it('stands still for a moment: the leases go on unconfirmed', async (bed, server) => {
    const scene = await Scene.set(bed, { holder: server, others: server, ttl: RESTART_TTL_MS });
    server.pause();
    await until('doubted the holder', async () => scene.probed.lease.state === 'unconfirmed');
    server.resume();
    await scene.renewedSince(performance.now());
    expect(scene.probed.lease.state).toBe('held');
    await scene.expectUndisturbed(0);
    await scene.leave(server);
  });
}

export function loneServer(newBed: NewBed): void {
  absentServer(newBed);
  const it = onServer(newBed);

  it('dies and comes back: the leases go on, and nobody has to wait', async (bed, server) => {
    const scene = await Scene.set(bed, { holder: server, others: server, ttl: RESTART_TTL_MS });
    await server.restart();
    const back = performance.now();
    await (await patiently(bed.patientLocks(server).mutex('fresh'))).release();
    await scene.renewedSince(back);
    await scene.expectUndisturbed(0);
    await scene.leave(server);
  });

  it('dies again and again under load: nobody is granted what is held', async (bed, server) => {
    const all = Array.from({ length: 4 }, () => bed.locks(server));
    const crowd = bed.use(new Crowd(all, ['a', 'b', 'c']));
    for (let i = 0; i < 3; i++) {
      await crowd.goesOn();
      if (i < 2) await server.restart();
    }
    await crowd.expectOrder();
    await bed.end(server);
  });
}
