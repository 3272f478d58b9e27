import assert from 'node:assert/strict';
import { MAX_BATCH } from '../../store.ts';
import type { Topic } from '../case.ts';
import { gone, held, states } from '../expect.ts';

export const batches: Topic = {
  topic: 'batches',
  cases: [
    {
      name: 'answers come in the order of the claims',
      async run(bed) {
        const of = (name: string) => bed.claim({ resource: bed.name(name) });
        await bed.enterAll([of('b'), of('d')]);
        const batch = ['d', 'a', 'b', 'c'].map((name) => ({ ...of(name), queue: false }));
        assert.equal(states(await bed.store.claim(batch)), 'gone held gone held');
        assert.equal(states(await bed.store.renew(batch)), 'gone held gone held');
        assert.deepEqual(await bed.store.release(batch), [false, true, false, true]);
      },
    },
    {
      name: 'a hundred claims go in one request',
      async run(bed) {
        const batch = Array.from({ length: MAX_BATCH }, (_, i) =>
          bed.claim({ resource: bed.name(String(i)) }),
        );
        for (const status of await bed.store.claim(batch)) held(status);
        for (const status of await bed.store.renew(batch)) held(status);
        for (const status of await bed.store.claim(batch)) held(status);
        assert.deepEqual(new Set(await bed.store.release(batch)), new Set([true]));
        for (const status of await bed.store.renew(batch)) gone(status);
      },
    },
    {
      name: 'a refused claim does not hurt the others of its batch',
      async run(bed) {
        const of = (name: string) => bed.claim({ resource: bed.name(name) });
        await bed.enter(of('b'));
        const stranger = { ...of('b'), kind: 'permits', limit: 5 } as const;
        const [first, second, third] = await bed.store.claim([of('a'), stranger, of('c')]);
        held(first);
        gone(second, 'mismatch');
        held(third);
      },
    },
    {
      name: 'heartbeats of the living are not hurt by the dead in their batch',
      async run(bed) {
        const of = (name: string) => bed.claim({ resource: bed.name(name) });
        const [a, never, c] = [of('a'), of('b'), of('c')];
        await bed.enterAll([a, c]);
        assert.equal(states(await bed.store.renew([a, never, c])), 'held gone held');
      },
    },
    {
      name: 'an empty batch gets an empty answer',
      async run(bed) {
        assert.deepEqual(await bed.store.claim([]), []);
        assert.deepEqual(await bed.store.renew([]), []);
        assert.deepEqual(await bed.store.release([]), []);
      },
    },
    {
      name: 'elements for one resource are separate steps, in order',
      needs: ['queue', 'sequential batches'],
      async run(bed) {
        const batch = [bed.claim(), bed.claim(), bed.claim()];
        assert.equal(states(await bed.store.claim(batch)), 'held waiting waiting');
        assert.deepEqual(await bed.store.release(batch.slice(0, 2)), [true, true]);
        assert.equal(states(await bed.store.renew(batch)), 'gone gone held');
      },
    },
    {
      name: 'tokens grow within a batch',
      needs: ['tokens', 'sequential batches'],
      async run(bed) {
        const batch = [1, 2, 3].map(() => bed.claim({ kind: 'permits', limit: 3 }));
        const tokens = (await bed.store.claim(batch)).map((status) => held(status).token);
        for (const [i, token] of tokens.entries()) assert.ok(token > (tokens[i - 1] ?? 0n));
      },
    },
    {
      name: 'batches of several connections do not mix up their answers',
      async run(bed) {
        const stores = [bed.store, await bed.connect(), await bed.connect()];
        await Promise.all(
          stores.map(async (store, s) => {
            const batch = Array.from({ length: 20 }, (_, i) =>
              bed.claim({ resource: bed.name(`${i}`), kind: 'permits', limit: 3 }),
            );
            for (const status of await store.claim(batch)) held(status);
            assert.equal((await store.release(batch.slice(0, s))).length, s);
          }),
        );
        assert.equal((await bed.look(bed.name('19'))).holders.length, 3);
      },
    },
  ],
};
