/** Looking at a lease calls nobody, whatever it finds. */
import { inspect } from 'node:util';
import type { Duration, LeaseLostError, LeaseState } from 'holdfast';
import { expect, it } from 'vitest';
import { gate } from '../support/gate.ts';
import { held, setUp } from '../support/scripted-store.ts';

/** Longer than any life here. */
const STALL_MS = 11_000;

async function takenWith(options: { readonly maxHold?: Duration } = {}) {
  const bed = setUp();
  const lease = await bed.locks.mutex('a', options).acquire();
  const told: string[] = [];
  lease.signal.addEventListener('abort', () => told.push('signal'));
  void lease.ended.then(() => told.push('ended'));
  bed.locks.on('lost', () => told.push('lost'));
  return { ...bed, lease, told };
}

function look({ held, remainingMs, loss, state }: Looked): Looked {
  return { held, remainingMs, loss, state };
}

interface Looked {
  readonly held: boolean;
  readonly remainingMs: number;
  readonly loss: LeaseLostError | undefined;
  readonly state: LeaseState;
}

it('calls nobody at the deadline and past it; listeners hear of it in a microtask', async () => {
  const { clock, lease, told, store } = await takenWith();
  clock.stall(lease.remainingMs - 0.001);
  expect(look(lease)).toMatchObject({ held: true, state: 'held', loss: undefined });
  clock.stall(0.001);
  const sent = store.sent('renew').length;
  const seen = look(lease);
  expect(seen).toMatchObject({ held: false, remainingMs: 0, state: 'lost' });
  expect(seen.loss).toMatchObject({ code: 'LEASE_LOST', reason: 'stalled' });
  expect(() => lease.assertHeld()).toThrow(seen.loss);
  expect([told, store.sent('renew').length]).toEqual([[], sent]);
  await Promise.resolve();
  await Promise.resolve();
  expect(told.sort()).toEqual(['ended', 'lost', 'signal']);
  expect(lease.signal.reason).toBe(seen.loss);
  expect(lease.loss).toBe(seen.loss);
});

it('tells of a loss as soon as the loop is free, though nobody looks', async () => {
  const { clock, told } = await takenWith();
  clock.stall(STALL_MS);
  expect(told).toEqual([]);
  await clock.advance(0);
  expect(told).toHaveLength(3);
});

it('has seen the end for good, whatever the store confirms after it', async () => {
  const { clock, lease, store } = await takenWith();
  const reply = gate();
  store.onRenew = () => reply.opened.then(() => held({ leftMs: 60_000 }));
  const renewing = lease.renew();
  await clock.rest();
  clock.stall(STALL_MS);
  expect(lease.held).toBe(false);
  reply.open();
  await expect(renewing).rejects.toMatchObject({ code: 'LEASE_LOST' });
  expect(lease.state).toBe('lost');
});

it('finds the end of maxHold as well', async () => {
  const { clock, lease, told } = await takenWith({ maxHold: '3s' });
  clock.stall(3_000);
  expect(look(lease)).toMatchObject({ held: false, state: 'lost', loss: { reason: 'max-hold' } });
  expect(told).toEqual([]);
});

it('gives the same signal and the same end at each look', async () => {
  const { lease } = await takenWith();
  const { signal, ended } = lease;
  expect(lease.signal).toBe(signal);
  expect(lease.ended).toBe(ended);
});

it('prints no secret: what `toJSON` has, and not the id of its claim', async () => {
  const { lease, store } = await takenWith();
  expect(inspect(lease)).toBe(inspect(lease.toJSON()));
  expect(inspect({ lease })).not.toContain(store.entered[0]?.id);
});

it('tells a lease that the program has released from a lost one', async () => {
  const { lease, told } = await takenWith();
  await lease.release();
  expect(() => lease.assertHeld()).toThrow(/it was used after its own release/);
  await expect(lease.renew()).rejects.toMatchObject({ reason: 'released' });
  expect([lease.loss, told]).toEqual([undefined, ['ended']]);
});
