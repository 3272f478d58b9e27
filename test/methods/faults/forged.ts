/**
 * Messages of somebody who may read the store and send messages, but write nothing: they grant
 * nothing, and set no number.
 */
import type { Locks } from 'holdfast';
import { expect } from 'vitest';
import { watchOutcome } from '../../support/scripted-store.ts';
import { hasWaiter } from './bed.ts';

export interface Forger {
  /** The tags in the rows of this lock, in any order. */
  tags(name: string): Promise<readonly string[]>;
  /** To all processes that listen, about the claim with this tag. */
  send(message: string): Promise<unknown>;
  /** Whatever else the rows say. */
  words(name: string): Promise<readonly string[]>;
}

/** Two processes; `settled` resolves when all messages so far have arrived. */
export async function expectNoForgery(
  { holder, waiter }: { readonly holder: Locks; readonly waiter: Locks },
  forger: Forger,
  settled: () => Promise<unknown>,
): Promise<void> {
  const name = 'gold';
  const lease = await holder.mutex(name, { fair: true }).acquire();
  const waiting = waiter.mutex(name, { fair: true }).acquire();
  const outcome = watchOutcome(waiting);
  await hasWaiter(holder, name);
  const { holders, waiters } = await holder.inspect(name);
  // As the store has them.
  const [held = 0n, next = 0n] = [holders, waiters].map(([one]) => (one?.number ?? 0n) / 1024n);
  const tags = await forger.tags(name);
  expect(tags).toHaveLength(2);
  const words = await forger.words(name);
  for (const tag of tags) {
    // The first one counts most: after it, no other is believed.
    const proofs = [...tags.filter((each) => each !== tag), tag, ...words, '', '0'.repeat(32)];
    for (const number of [next, 2n ** 52n]) {
      for (const proof of proofs) {
        await forger.send(`${tag} h ${number} 9000 0 - released ${held} ${proof}`.trim());
      }
      await forger.send(`${tag} h ${number} 9000 0 - - 0`);
      await forger.send(`${tag} w 9000 1 - queue 1`);
    }
    await forger.send(`${tag} ?`);
  }
  await settled();
  expect([lease.held, outcome.done]).toEqual([true, false]);
  await lease.release();
  const second = await waiting;
  expect(second.token).toBe(next * 1024n);
  await second.release();
}
