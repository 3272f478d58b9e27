import { expect, it } from 'vitest';
import type { ZookeeperSession } from '../../../../src/clients/zookeeper/zookeeper-session.ts';
import type { KeptSession } from '../../../../src/stores/zookeeper/kept-session.ts';
import { Tree } from '../../../../src/stores/zookeeper/layout.ts';
import type { ZookeeperClaim } from '../../../../src/stores/zookeeper/own-claim.ts';
import { Sessions } from '../../../../src/stores/zookeeper/sessions.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A session as far as its life goes: it has all that was asked for. */
class Life {
  state: ZookeeperSession['state'] = 'connected';
  touchedAt: number;
  confirmed = 0;
  end: 'closed' | 'abandoned' | undefined;
  readonly timeoutMs: number;
  readonly #clock: FakeClock;

  constructor(timeoutMs: number, clock: FakeClock) {
    this.timeoutMs = timeoutMs;
    this.#clock = clock;
    this.touchedAt = clock.now();
  }

  listen(): void {}

  async getData(): Promise<{ readonly data: Buffer }> {
    return { data: Buffer.from('one') };
  }

  async confirm(): Promise<void> {
    this.confirmed++;
    this.touchedAt = this.#clock.now() - this.timeoutMs / 4;
  }

  async close(): Promise<void> {
    this.end = 'closed';
  }

  abandon(): void {
    this.end = 'abandoned';
  }
}

function played() {
  const clock = new FakeClock();
  const lives: Life[] = [];
  const start = (timeoutMs = 0): ZookeeperSession => {
    const life = new Life(timeoutMs, clock);
    lives.push(life);
    return life as unknown as ZookeeperSession;
  };
  /** What had to be cleared away, again and again as long as it is there. */
  const cleared: ZookeeperClaim[] = [];
  /** What was over with its session. */
  const dropped: ZookeeperClaim[] = [];
  const sessions = new Sessions({
    ...{ client: { start }, tree: new Tree(''), clock, alarm: () => {} },
    clear: async (own: ZookeeperClaim) => void cleared.push(own),
    drop: (own: ZookeeperClaim) => {
      dropped.push(own);
      own.kept.remove(own);
    },
  });
  const claimOn = (kept: KeptSession, ttlMs: number): ZookeeperClaim => {
    const own = { kept, until: clock.now() + ttlMs } as ZookeeperClaim;
    kept.add(own);
    return own;
  };
  return { clock, sessions, lives, cleared, dropped, claimOn };
}

it('claims of nearly one ttl share a session that lives half as long again', async () => {
  const { sessions, lives } = played();
  const kept = await sessions.lend(3000);
  expect(await sessions.lend(2900)).toBe(kept);
  expect(await sessions.lend(9000)).not.toBe(kept);
  expect(lives.map(({ timeoutMs }) => timeoutMs)).toEqual([4500, 13_500]);
});

it('a life is counted from when the session was surely heard of', async () => {
  const { clock, sessions, lives } = played();
  const kept = await sessions.lend(3000);
  await clock.advance(1000);
  expect(kept.deadline).toBe(lives[0]!.touchedAt + 4500);
});

it('a new claim has its whole ttl, and one soon after it costs nothing', async () => {
  const { clock, sessions, lives } = played();
  const [ttlMs, soonMs] = [3000, 1400];
  await sessions.lend(ttlMs);
  const [life] = lives as [Life];
  await clock.advance(soonMs);
  expect((await sessions.lend(ttlMs)).deadline - clock.now()).toBeGreaterThanOrEqual(ttlMs);
  expect(life.confirmed).toBe(0);
  await clock.advance(soonMs);
  expect((await sessions.lend(ttlMs)).deadline - clock.now()).toBeGreaterThanOrEqual(ttlMs);
  expect(life.confirmed).toBe(1);
});

it('what nobody renews is cleared when it is over, until it is gone', async () => {
  const { clock, sessions, cleared, claimOn } = played();
  const kept = await sessions.lend(3000);
  const [renewed, left] = [claimOn(kept, 3000), claimOn(kept, 3000)];
  await clock.advance(2999);
  expect(cleared.length).toBe(0);
  renewed.until = clock.now() + 3000;
  await clock.advance(1);
  expect(cleared.length).toBe(1);
  expect(cleared[0]).toBe(left);
  await clock.advance(1000);
  expect(cleared.length).toBeGreaterThan(1);
  left.kept.remove(left);
  const before = cleared.length;
  await clock.advance(1000);
  expect(cleared.length).toBe(before);
  expect(cleared).not.toContain(renewed);
});

it('what cannot be reached is cleared later', async () => {
  const { clock, sessions, lives, cleared, claimOn } = played();
  const left = claimOn(await sessions.lend(3000), 2000);
  const [life] = lives as [Life];
  life.state = 'suspended';
  await clock.advance(2500);
  expect(cleared).toEqual([]);
  life.state = 'connected';
  await clock.advance(500);
  expect(cleared[0]).toBe(left);
});

it('what is over with its session is forgotten, and nothing is sent', async () => {
  const { clock, sessions, lives, cleared, dropped, claimOn } = played();
  const left = claimOn(await sessions.lend(3000), 2000);
  lives[0]!.state = 'expired';
  await clock.advance(1999);
  expect(dropped.length).toBe(0);
  await clock.advance(1);
  expect(dropped[0]).toBe(left);
  expect(cleared.length).toBe(0);
});

it('whoever closes leaves the sessions of claims to themselves, and ends the others', async () => {
  const { clock, sessions, lives, claimOn } = played();
  claimOn(await sessions.lend(3000), 3000);
  await sessions.lend(9000);
  sessions.close();
  expect(lives.map(({ end }) => end)).toEqual(['abandoned', 'closed']);
  await clock.rest();
  expect(clock.timers).toBe(0);
  await expect(sessions.lend(3000)).rejects.toMatchObject({ code: 'CLOSED' });
});

it('a session without claims waits for some for a while, and is ended then', async () => {
  const { clock, sessions, lives, claimOn } = played();
  const kept = await sessions.lend(3000);
  const own = claimOn(kept, 60_000);
  await clock.advance(50_000);
  expect(lives[0]?.end).toBeUndefined();
  own.kept.remove(own);
  await clock.advance(29_000);
  expect(await sessions.lend(3000)).toBe(kept);
  await clock.advance(29_000);
  expect(lives[0]?.end).toBeUndefined();
  await clock.advance(1000);
  expect(lives[0]?.end).toBe('closed');
  expect(await sessions.lend(3000)).not.toBe(kept);
});

it('a claim that lives for long is looked at when it may be over, and not before', async () => {
  const { clock, sessions, claimOn } = played();
  const own = claimOn(await sessions.lend(3000), 3000);
  let looks = 0;
  const until = own.until + 60_000;
  Object.defineProperty(own, 'until', {
    get: () => {
      looks++;
      return until;
    },
  });
  await clock.advance(40_000);
  expect(looks).toBeLessThan(10);
});

it('a session that is over is followed by another', async () => {
  const { sessions, lives } = played();
  const kept = await sessions.lend(3000);
  lives[0]!.state = 'expired';
  expect(await sessions.lend(3000)).not.toBe(kept);
  expect(lives).toHaveLength(2);
});
