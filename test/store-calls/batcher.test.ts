/** The batcher by itself: what leaves when, what its callers hear, and when it is empty. */
import type { Claim } from 'holdfast/store';
import { describe, expect, it } from 'vitest';
import { Answer } from '../../src/base/answer.ts';
import { EventLoop } from '../../src/base/event-loop.ts';
import { Batcher, type BatcherParts } from '../../src/store-calls/batcher.ts';
import { TimeLimits } from '../../src/store-calls/time-limit.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { failure, ScriptedStore } from '../support/scripted-store.ts';

type Heard = readonly [result: boolean | undefined, error: string | undefined];

/** Releases, each of them of a resource that says its name. */
class Bench {
  readonly clock = new FakeClock();
  readonly store: ScriptedStore;
  /** What was sent, batch by batch. */
  readonly sent: string[] = [];
  readonly heard: Record<string, Heard[]> = {};
  readonly results: unknown[] = [];
  idle = 0;
  /** How each batch ends; without one, it is silent until `reply`. */
  ends: ((batch: string) => Answer<boolean[]>) | undefined;
  readonly #open = new Map<string, Answer<boolean[]>>();
  readonly #batcher: Batcher<boolean>;

  constructor(traits = {}, more: Partial<BatcherParts<boolean>> = {}) {
    this.store = new ScriptedStore(this.clock, traits);
    const { clock, store } = this;
    const parts = {
      store,
      clock,
      loop: new EventLoop(clock),
      limits: new TimeLimits(store, clock),
    };
    const done = ({ results }: { results: readonly unknown[] }): void => {
      this.results.push(results);
    };
    const verb = (claims: readonly Claim[]): Answer<boolean[]> => this.#verb(claims);
    this.#batcher = new Batcher(
      { ...parts, verb, check: (reply: boolean) => reply, done, ...more },
      () => this.idle++,
    );
  }

  #verb(claims: readonly Claim[]): Answer<boolean[]> {
    const batch = claims.map(({ resource }) => resource).join(' ');
    this.sent.push(batch);
    const answer = this.ends?.(batch) ?? new Answer<boolean[]>();
    this.#open.set(batch, answer);
    return answer;
  }

  send(resource: string, over: { ttlMs?: number; id?: string } = {}, then?: () => void): void {
    const claim = { id: resource, ttlMs: 10_000, ...over, resource } as Claim;
    const settle = (result?: boolean, error?: Error): void => {
      this.heard[resource] = [...(this.heard[resource] ?? []), [result, error?.message]];
      then?.();
    };
    this.#batcher.send(claim, { settle });
  }

  /** One that its caller takes back before it has left. */
  takeBack(resource: string): void {
    const caller = { wanted: true, settle: () => this.results.push('settled') };
    this.#batcher.send({ id: resource, ttlMs: 10_000, resource } as Claim, caller);
    caller.wanted = false;
  }

  async reply(batch: string): Promise<void> {
    this.#open.get(batch)?.settle(batch.split(' ').map(() => true));
    await this.clock.rest();
  }
}

describe('a batch', () => {
  it('is sorted', async () => {
    const bench = new Bench({ sequential: true });
    for (const name of ['b', 'a', 'c']) bench.send(name);
    await bench.clock.rest();
    expect(bench.sent).toEqual(['a b c']);
  });

  it('lacks what was taken back', async () => {
    const bench = new Bench();
    bench.takeBack('alone');
    await bench.clock.rest();
    expect([bench.sent, bench.idle]).toEqual([[], 1]);
    for (const name of ['a', 'b']) bench.send(name);
    bench.takeBack('c');
    await bench.clock.rest();
    expect([bench.sent, bench.results]).toEqual([['a b'], []]);
  });

  it('of a store without portions is alone under way, however large the crowd', async () => {
    const bench = new Bench();
    for (let n = 0; n < 250; n++) bench.send(`${n}`);
    await bench.clock.rest();
    expect(bench.sent).toHaveLength(1);
  });

  it('of unknown outcome is not halved, even if it is not to be tried again', async () => {
    const bench = new Bench();
    const thrown = failure({ retryable: false, outcome: 'unknown' });
    bench.ends = () => Answer.of<boolean[]>(() => Promise.reject(thrown));
    for (const name of ['a', 'b', 'c']) bench.send(name);
    await bench.clock.rest();
    expect(bench.sent).toEqual(['a b c']);
    expect(bench.heard).toMatchObject({ a: [[undefined, 'broken']], c: [[undefined, 'broken']] });
    expect(bench.results).toEqual([[]]);
  });

  it('that is late settles its callers once, whatever comes later', async () => {
    for (const end of ['settle', 'fail'] as const) {
      const bench = new Bench();
      const answer = new Answer<boolean[]>();
      bench.ends = () => answer;
      bench.send('a');
      await bench.clock.advance(3_400);
      if (end === 'settle') answer.settle([true]);
      else answer.fail(failure());
      await bench.clock.rest();
      const late = 'The store did not answer within 3333 ms.';
      expect(bench.heard).toEqual({ a: [[undefined, late]] });
      expect([bench.results, bench.idle]).toEqual([[[]], 1]);
    }
  });

  it('to a synchronous store is never late, and holds up what comes after it', async () => {
    const bench = new Bench({ synchronous: true });
    bench.send('a');
    await bench.clock.rest();
    bench.send('b');
    await bench.clock.advance(20_000);
    expect([bench.sent, bench.heard]).toEqual([['a'], {}]);
  });

  it('is not sent from within the reply to the one before it', async () => {
    const bench = new Bench({ synchronous: true }, { final: true, portion: 1 });
    bench.ends = () => Answer.of(() => [true]);
    bench.send('a', {}, () => bench.send('b'));
    expect(bench.sent).toEqual(['a']);
    await bench.clock.rest();
    expect([bench.sent, bench.idle]).toEqual([['a', 'b'], 1]);
  });
});

describe('the wait for the batch before it', () => {
  it('begins anew with each request that waits', async () => {
    const bench = new Bench();
    bench.send('a');
    await bench.clock.advance(100);
    bench.send('b');
    await bench.clock.advance(400);
    await bench.reply('a');
    await bench.clock.advance(100);
    bench.send('c');
    await bench.clock.advance(900);
    expect(bench.sent).toEqual(['a', 'b']);
    await bench.clock.advance(100);
    expect(bench.sent).toEqual(['a', 'b', 'c']);
  });

  it('is as short as the shortest TTL asks, and over for all who waited', async () => {
    const bench = new Bench();
    bench.send('a');
    await bench.clock.rest();
    bench.send('b');
    bench.send('c', { ttlMs: 5_000 });
    await bench.clock.advance(500);
    expect(bench.sent).toEqual(['a', 'b c']);
    await bench.clock.advance(50);
    bench.send('d');
    await bench.clock.advance(999);
    expect(bench.sent).toEqual(['a', 'b c']);
  });
});

describe('it is empty', () => {
  it('once the last reply has come, also the late one', async () => {
    const bench = new Bench();
    bench.send('a');
    await bench.clock.rest();
    bench.send('b');
    await bench.clock.advance(1_000);
    await bench.reply('b');
    expect([bench.sent, bench.idle]).toEqual([['a', 'b'], 0]);
    await bench.reply('a');
    expect(bench.idle).toBe(1);
  });

  it('not while a request waits for an earlier one of its own claim', async () => {
    const bench = new Bench();
    bench.send('a');
    await bench.clock.rest();
    bench.send('again', { id: 'a' });
    await bench.clock.advance(1_000);
    expect([bench.sent, bench.idle]).toEqual([['a'], 0]);
    await bench.reply('a');
    expect([bench.sent, bench.idle]).toEqual([['a', 'again'], 0]);
    await bench.reply('again');
    expect(bench.idle).toBe(1);
  });
});
