import assert from 'node:assert/strict';
import { type Claim, MAX_PERMITS, type Queue, type Store } from '../../contract/store.ts';
import type { Topic } from '../case.ts';
import { held } from '../expect.ts';
import type { TestBed } from '../test-bed.ts';

export const follow: Topic = {
  topic: 'follow',
  needs: ['queue', 'follow'],
  cases: [
    {
      name: 'who follows is told the queue at first, and then each change in order',
      async run(bed) {
        const [a, b, c] = [bed.claim(), bed.claim(), bed.claim()];
        await bed.enterAll([a, b]);
        const heard = await listen(bed);
        assert.deepEqual(heard.told, ['1|2']);
        await bed.enter(c);
        await bed.leave(a);
        await bed.leave(c);
        await bed.leave(b);
        await heard.until('|');
        assert.deepEqual(heard.told, ['1|2', '1|2 3', '2|3', '2|', '|']);
        assert.equal(heard.missed, false);
      },
    },
    {
      name: 'a queue that nobody has ever claimed is followed from its first claim on',
      async run(bed) {
        const heard = await listen(bed);
        assert.deepEqual(heard.told, ['|']);
        const a = bed.claim();
        await bed.enter(a);
        await bed.leave(a);
        await bed.enter(bed.claim());
        await heard.until('2|');
        assert.deepEqual(heard.told, ['|', '1|', '|', '2|']);
        assert.equal(heard.missed, false);
      },
    },
    {
      name: 'what is told is what a look shows',
      needs: ['permits', 'tokens'],
      async run(bed) {
        const heard = await listen(bed);
        const a = bed.claim({ kind: 'permits', permits: 2, limit: 3 });
        const { token } = held(await bed.enter(a));
        await bed.enter(bed.claim({ kind: 'permits', permits: 2, limit: 3 }));
        await heard.until('1|2');
        const [now, look] = [heard.now, await bed.look()];
        const [member] = now.holders;
        assert.ok(member);
        assert.deepEqual(
          [now.resource, now.limit, member.number, member.kind, member.permits, member.ttlMs],
          [a.resource, 3, token, 'permits', 2, a.ttlMs],
        );
        assert.deepEqual({ ...member.holder }, a.holder);
        assert.equal(now.waiters[0]?.number, look.waiters[0]?.number);
        assert.ok(member.leftMs > 0 && member.leftMs <= a.ttlMs + bed.slackMs);
      },
    },
    {
      name: 'hundreds of holders, one after the other, are told to another connection',
      async run(bed) {
        const heard = await listen(bed, await bed.connect());
        const claims = Array.from({ length: 200 }, () => bed.claim());
        const expected = ['|'];
        await bed.enter(claims[0] as Claim);
        expected.push('1|');
        for (const [i, claim] of claims.entries()) {
          const next = claims[i + 1];
          if (next) {
            await bed.enter(next);
            expected.push(`${i + 1}|${i + 2}`);
          }
          await bed.leave(claim);
          expected.push(next ? `${i + 2}|` : '|');
        }
        await bed.until('all was told', () => heard.told.length >= expected.length);
        assert.deepEqual(heard.told, expected);
        assert.equal(heard.missed, false);
      },
    },
    {
      name: 'who is refused is never seen in the queue',
      needs: ['atomic try'],
      async run(bed) {
        const heard = await listen(bed);
        await bed.enter(bed.claim());
        await bed.enter(bed.claim({ queue: false }));
        await bed.enter(bed.claim());
        await heard.until('1|3');
        assert.deepEqual(heard.told, ['|', '1|', '1|3']);
      },
    },
    {
      name: 'heartbeats and looks tell nothing new',
      async run(bed) {
        const heard = await listen(bed);
        const [a, b] = [bed.claim(), bed.claim()];
        await bed.enterAll([a, b]);
        for (const claim of [a, b]) await bed.beat(claim);
        await bed.look();
        await bed.leave(a);
        await heard.until('2|');
        assert.deepEqual(heard.told, ['|', '1|', '1|2', '2|']);
      },
    },
    {
      name: 'who dies is told although nobody asks',
      async run(bed) {
        const heard = await listen(bed);
        await bed.enter(bed.claim({ ttlMs: bed.ttlMs }));
        await bed.enter(bed.claim());
        await heard.until('2|');
        assert.deepEqual(heard.told, ['|', '1|', '1|2', '2|']);
      },
    },
    {
      name: 'a downgraded writer is a reader in its own place, and lets the readers in at once',
      needs: ['permits', 'downgrade'],
      async run(bed) {
        const w = write(bed);
        const r = bed.claim({ kind: 'read', limit: MAX_PERMITS });
        const next = write(bed);
        await bed.enterAll([w, r, next]);
        const heard = await listen(bed);
        await bed.store.downgrade?.(w);
        await heard.until('1 2|3');
        assert.equal(heard.now.holders[0]?.kind, 'read');
        await bed.leave(r);
        await bed.leave(w);
        await heard.until('3|');
        assert.deepEqual(heard.told, ['1|2 3', '1 2|3', '1|3', '3|']);
        assert.equal(heard.missed, false);
      },
    },
    {
      name: 'who is evicted is told to have gone',
      needs: ['evict', 'tokens'],
      async run(bed) {
        const heard = await listen(bed);
        const [a, b, c] = [bed.claim(), bed.claim(), bed.claim()];
        await bed.enterAll([a, b, c]);
        const { holders, waiters } = await bed.look();
        for (const member of [waiters[0], holders[0]]) {
          const number = member?.number ?? assert.fail();
          await bed.store.evict?.(a.resource, number, { reason: 'test', now: true });
        }
        await heard.until('3|');
        assert.deepEqual(heard.told, ['|', '1|', '1|2', '1|2 3', '1|3', '3|']);
      },
    },
    {
      name: 'several follow, each to its own end',
      async run(bed) {
        const [one, other] = [await listen(bed), await listen(bed)];
        const elsewhere = await listen(bed, bed.store, bed.name('other'));
        const [a, b] = [bed.claim(), bed.claim()];
        await bed.enter(a);
        await one.until('1|');
        await one.end();
        await bed.enter(b);
        await other.until('1|2');
        await bed.quiet();
        assert.deepEqual(one.told, ['|', '1|']);
        assert.deepEqual(other.told, ['|', '1|', '1|2']);
        assert.deepEqual(elsewhere.told, ['|']);
        const late = await listen(bed);
        assert.deepEqual(late.told, ['1|2']);
      },
    },
  ],
};

interface Heard {
  /** What differed from what was told before, as `holders|waiters`, by the numbers of claims. */
  readonly told: readonly string[];
  readonly missed: boolean;
  readonly now: Queue;
  until(standings: string): Promise<unknown>;
  end(): Promise<void>;
}

async function listen(
  bed: TestBed,
  store: Store = bed.store,
  resource: string = bed.name(),
): Promise<Heard> {
  assert.ok(store.follow, 'the store has follow()');
  const queues: Queue[] = [];
  const told: string[] = [];
  let missed = false;
  const following = await store.follow(resource, {
    told(queue, others) {
      missed ||= others;
      const text = [queue.holders, queue.waiters].map((all) => all.map(nameOf).join(' ')).join('|');
      if (text !== told.at(-1)) told.push(text);
      queues.push(queue);
    },
    failed: (error) => told.push(`${error}`),
  });
  const end = async (): Promise<void> => following[Symbol.asyncDispose]();
  bed.cleanup(end);
  return {
    ...{ told, end },
    get missed() {
      return missed;
    },
    get now() {
      return queues.at(-1) ?? assert.fail('nothing was told');
    },
    until: (standings) => bed.until(`${standings} was told`, () => told.at(-1) === standings),
  };
}

function nameOf({ holder }: Queue['holders'][number]): string {
  return (holder.label ?? '').replace('claim ', '');
}

function write(bed: TestBed): Claim {
  return bed.claim({ kind: 'write', permits: MAX_PERMITS, limit: MAX_PERMITS });
}
