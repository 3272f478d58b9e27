/** Who leads and who is next, while candidates come, go and die, and the network breaks. */
import { hostname } from 'node:os';
import { evict } from 'holdfast';
import { describe, expect, test } from 'vitest';
import type { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { Child } from '../processes/child.ts';
import type { CandidateOptions, Leads, Led } from '../processes/children/candidate.ts';
import { machineMs } from '../processes/children/talk.ts';
import { type Bed, LONG_TTL_MS, type Place, type StoreOptions, sleep } from './bed.ts';
import { MORTAL_TTL_MS, Race } from './race.ts';

type NewBed<Options extends StoreOptions, At extends Place> = () => Bed<Options, At>;

async function behindProxy<Options extends StoreOptions, At extends Place>(
  bed: Bed<Options, At>,
  seats?: number,
): Promise<{ readonly race: Race<Options, At>; readonly proxy: TcpProxy }> {
  const { server, proxy } = await bed.behindProxy();
  return { race: new Race(bed, server, seats), proxy };
}

/** Ways to lose the network: nothing passes, nothing passes yet, or no answers do. */
const CUTS = {
  swallow: (proxy: TcpProxy) => proxy.set({ flow: 'swallow' }),
  hold: (proxy: TcpProxy) => proxy.set({ flow: 'hold' }),
  'hold answers': (proxy: TcpProxy) => proxy.toClient.set({ flow: 'hold' }),
} as const;
const EVERY_CUT = Object.entries(CUTS);

/** Candidates and observers on a server that several tests share. */
export function elections<Options extends StoreOptions, At extends Place>(
  newBed: NewBed<Options, At>,
): void {
  test.concurrent('one leads, the others stand by in order, and all of them are seen', async () => {
    await using bed = newBed();
    const race = new Race(bed, await bed.server());
    const { observer } = race;
    await observer.sees('|');
    const [a, b] = [await race.stand('a'), await race.stand('b')];
    const [c, d] = [await race.stand('c'), await race.stand('d')];
    await race.led('a');
    expect([a.state, b.state, c.state, d.state]).toEqual([
      ...['leader', 'standby', 'standby', 'standby'],
    ]);
    for (const member of [...observer.latest.leaders, ...observer.latest.standbys]) {
      expect(member).toMatchObject({ ttlMs: LONG_TTL_MS, permits: 1 });
      expect(member.holder).toMatchObject({ host: hostname(), pid: process.pid });
    }
    expect(observer.latest.leaders[0]?.number).toBe(a.lease?.token);
    // Nobody else moves when a standby goes.
    await b.resign();
    await observer.sees('a|c d');
    await a.resign();
    await race.led('a', 'c');
    await observer.sees('c|d');
    await c.resign();
    await observer.sees('d|');
    await race.led('a', 'c', 'd');
    await d.resign();
    await observer.sees('|');
    // Each change once, in order: the next was made when the one before had been told.
    expect(observer.told).toEqual([
      ...['|', 'a|', 'a|b', 'a|b c', 'a|b c d', 'a|c d', 'c|d', 'd|', '|'],
    ]);
    await race.leave();
  });

  test.concurrent('two of five lead; whoever leaves a seat leaves it to the next', async () => {
    await using bed = newBed();
    const race = new Race(bed, await bed.server(), 2);
    const { observer } = race;
    const [a, b] = [await race.stand('a'), await race.stand('b')];
    const [c] = [await race.stand('c'), await race.stand('d')];
    await race.led('a', 'b');
    await b.resign();
    await race.led('a', 'b', 'c');
    await observer.sees('a c|d');
    await race.stand('e');
    await observer.sees('a c|d e');
    await a.resign();
    await race.led('a', 'b', 'c', 'd');
    await observer.sees('c d|e');
    await c.resign();
    await race.led('a', 'b', 'c', 'd', 'e');
    await observer.sees('d e|');
    await race.leave();
  });

  test.concurrent('whoever leads no more stands again, last', async () => {
    await using bed = newBed();
    const race = new Race(bed, await bed.server());
    const { observer } = race;
    for (const label of ['a', 'b', 'c']) await race.stand(label, { mortal: label === 'a' });
    await race.led('a');
    const [{ number: token = 0n } = {}] = observer.latest.leaders;
    await evict(bed.patientLocks(race.server), race.name, { token, reason: 'it hangs' });
    await race.led('a', 'b');
    await observer.sees('b|c a');
    expect(race.terms[0]?.lease.loss?.reason).toBe('evicted');
    expect(race.terms[1]?.lease.takeover?.reason).toBe('evicted');
    await race.leave();
  });

  describe.concurrent.each(EVERY_CUT)('cut off (%s)', (_, cut) => {
    test.concurrent('a leader is told before the next one leads', async () => {
      await using bed = newBed();
      const { race, proxy } = await behindProxy(bed);
      const a = await race.stand('a', { at: proxy, mortal: true });
      const [b] = [await race.stand('b'), await race.stand('c')];
      await race.led('a');
      cut(proxy);
      // That two never lead at once is seen when a term begins.
      await race.led('a', 'b');
      expect(a.state).toBe('standby');
      expect(race.terms[0]?.lease.loss?.reason).toBe('expired');
      proxy.set();
      await race.observer.sees('b|c a');
      await b.resign();
      await race.led('a', 'b', 'c');
      await race.leave();
    });

    test.concurrent('a standby that is dead when its turn comes never leads', async () => {
      await using bed = newBed();
      const { race, proxy } = await behindProxy(bed);
      const a = await race.stand('a');
      await race.stand('b', { at: proxy, mortal: true });
      const c = await race.stand('c');
      cut(proxy);
      await until('died the standby', async () => race.observer.now === 'a|c');
      await a.resign();
      await race.led('a', 'c');
      proxy.set();
      await race.observer.sees('c|b');
      // What was held back has arrived, and heartbeats have followed.
      await sleep(MORTAL_TTL_MS / 4);
      await c.resign();
      await race.led('a', 'c', 'b');
      await race.leave();
    });

    test.concurrent('a standby whose turn comes does not hear of it, and never leads', async () => {
      await using bed = newBed();
      const { race, proxy } = await behindProxy(bed);
      const a = await race.stand('a');
      await race.stand('b', { at: proxy, mortal: true });
      const c = await race.stand('c');
      await race.led('a');
      cut(proxy);
      await a.resign();
      await race.led('a', 'c');
      proxy.set();
      await race.observer.sees('c|b');
      await sleep(MORTAL_TTL_MS / 4);
      await c.resign();
      await race.led('a', 'c', 'b');
      await race.leave();
    });
  });

  describe.concurrent('an observer', () => {
    test.concurrent('whose connections are reset goes on', async () => {
      await using bed = newBed();
      const { race, proxy } = await behindProxy(bed);
      const observer = race.observe(proxy);
      const [a, b] = [await race.stand('a'), await race.stand('b')];
      const c = await race.stand('c');
      await observer.sees('a|b c');
      proxy.reset();
      await a.resign();
      await observer.sees('b|c');
      proxy.refuse();
      proxy.reset();
      // Long enough for some looks that fail.
      await sleep(MORTAL_TTL_MS);
      await proxy.accept();
      await b.resign();
      await observer.sees('c|');
      proxy.halfOpen();
      await c.resign();
      await observer.sees('|');
      await race.leave();
    });

    test.concurrent.each(EVERY_CUT)('that is cut off (%s) learns who leads now', async (_, cut) => {
      await using bed = newBed();
      const { race, proxy } = await behindProxy(bed);
      const observer = race.observe(proxy);
      const [a, b] = [await race.stand('a'), await race.stand('b')];
      await race.stand('c');
      await observer.sees('a|b c');
      cut(proxy);
      await a.resign();
      await race.observer.sees('b|c');
      await b.resign();
      await race.observer.sees('c|');
      // Longer than it waits for an answer.
      await sleep(MORTAL_TTL_MS);
      proxy.set();
      await observer.sees('c|');
      await race.stand('d');
      await observer.sees('c|d');
      await race.leave();
    });
  });

  test.concurrent('candidates come and go, connections break: never too many lead', async () => {
    await using bed = newBed();
    const { race, proxy } = await behindProxy(bed, 2);
    const standing = [];
    for (let n = 0; n < 12; n++) {
      standing.push(await race.stand(`${n}`, { at: n % 2 ? proxy : race.server, mortal: true }));
      if (n % 3 === 1) proxy.reset();
      if (n === 2 || n === 7) {
        proxy.set({ flow: n === 2 ? 'hold' : 'swallow' });
        // Longer than they live.
        await sleep(MORTAL_TTL_MS * 1.2);
        proxy.set();
      }
      if (n > 2) await standing[n - 3]?.resign();
    }
    const last = standing.slice(-3);
    await until('led two', async () => {
      return last.filter(({ state }) => state === 'leader').length === 2;
    });
    await race.leave();
  });
}

/** One after the other, for children belong to a test. */
export function electedProcesses<Options extends StoreOptions, At extends Place>(
  newBed: NewBed<Options, At>,
): void {
  function candidate(bed: Bed<Options, At>, race: Race<Options, At>, label: string): Child {
    const store = bed.urlOf(race.server, LONG_TTL_MS);
    const options: CandidateOptions = { store, name: race.name, label, ttl: MORTAL_TTL_MS };
    return new Child('candidate', options);
  }

  test('a leader is killed: the next in order leads when its TTL is over', async () => {
    await using bed = newBed();
    const race = new Race(bed, await bed.server());
    const child = candidate(bed, race, 'x');
    const { token } = await child.next<Leads>('leads');
    await race.observer.sees('x|');
    const [b, c] = [await race.stand('b'), await race.stand('c')];
    child.kill('SIGKILL');
    await race.led('b');
    expect(race.terms[0]?.lease.takeover).toEqual({ reason: 'expired', token });
    expect([b.state, c.state]).toEqual(['leader', 'standby']);
    await race.observer.sees('b|c');
    expect(race.observer.told.slice(-4)).toEqual(['x|', 'x|b', 'x|b c', 'b|c']);
    await race.leave();
  });

  test('a standby is killed: it holds nobody up for longer than its TTL', async () => {
    await using bed = newBed();
    const race = new Race(bed, await bed.server());
    const a = await race.stand('a');
    const child = candidate(bed, race, 'x');
    await race.observer.sees('a|x');
    await race.stand('c');
    child.kill('SIGKILL');
    await child.exited();
    await a.resign();
    await race.led('a', 'c');
    await race.observer.sees('c|');
    await race.leave();
  });

  test('a leader is stopped: when it goes on, it finds that it leads no more', async () => {
    await using bed = newBed();
    const race = new Race(bed, await bed.server());
    const child = candidate(bed, race, 'x');
    await child.next<Leads>('leads');
    const b = await race.stand('b');
    child.kill('SIGSTOP');
    await race.led('b');
    const begun = machineMs();
    child.kill('SIGCONT');
    const { lastLedAt, reason } = await child.next<Led>('led');
    expect(lastLedAt).toBeLessThanOrEqual(begun);
    expect(reason).toBe('stalled');
    await race.observer.sees('b|x');
    expect(child.heard('leads')).toHaveLength(1);
    await b.resign();
    await until('led it again', async () => child.heard('leads').length === 2);
    child.tell({ type: 'enough' });
    await child.exited();
    await race.leave();
  });

  test('a standby is stopped while its turn comes and goes: it never led', async () => {
    await using bed = newBed();
    const race = new Race(bed, await bed.server());
    const a = await race.stand('a');
    const child = candidate(bed, race, 'x');
    await race.observer.sees('a|x');
    const c = await race.stand('c');
    child.kill('SIGSTOP');
    await a.resign();
    await race.led('a', 'c');
    child.kill('SIGCONT');
    await race.observer.sees('c|x');
    expect(child.heard('leads')).toEqual([]);
    await c.resign();
    const { token } = await child.next<Leads>('leads');
    expect(token).toBeGreaterThan(race.terms[1]?.lease.token ?? 0n);
    child.tell({ type: 'enough' });
    await child.exited();
    await race.leave();
  });
}
