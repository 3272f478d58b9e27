import type { Claim, ClaimStatus, Wake } from 'holdfast/store';
import { expect, test } from 'vitest';
import { Wakes } from '../../src/stores/wakes.ts';

const claim = { id: 'a', secret: 'b'.repeat(32) } as Claim;

/** A claim whose reply said that it holds with the number 5, and what messages tell it. */
async function holder() {
  let say = (_: string): void => {};
  const source = {
    async listen(_: string, received: (message: string) => void) {
      say = received;
    },
  };
  const wakes = new Wakes(source, 'channel:');
  const told: Parameters<Wake>[] = [];
  await wakes.watch(claim, (...hint) => void told.push(hint));
  const saw = (): void =>
    wakes.saw(claim, { state: 'held', token: 5n, leftMs: 1, waiters: 0 } satisfies ClaimStatus);
  saw();
  const [, tag] = wakes.tagOf(claim).split(' ');
  return { told, saw, hear: (words: string) => say(`${tag} ${words}`) };
}

test('a message with the number that the store gave tells a holder of who waits', async () => {
  const { told, hear } = await holder();
  hear('h 5 1000 2 - -');
  expect(told).toEqual([[expect.objectContaining({ state: 'held', token: 5n, waiters: 2 })]]);
});

test('a message with another number only makes a holder ask', async () => {
  const { told, hear } = await holder();
  hear(`h ${2 ** 53} 1000 2 - -`);
  expect(told).toEqual([[undefined]]);
  hear('h 5 1000 2 - -');
  expect(told[1]?.[0]).toMatchObject({ token: 5n });
});

test('after a message that it has left, no message tells a claim that it holds', async () => {
  const { told, saw, hear } = await holder();
  hear('?');
  hear('h 5 1000 2 - -');
  expect(told).toEqual([[undefined], [undefined]]);
  saw();
  hear('h 5 1000 2 - -');
  expect(told[2]?.[0]).toMatchObject({ token: 5n });
});
