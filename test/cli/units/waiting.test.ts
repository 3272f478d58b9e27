import { expect, it } from 'vitest';
import { Place } from '../program.ts';

it('a wait says with -v that its place in the queue was lost', async () => {
  const place = new Place();
  await place.holds('invoice:7');
  const waiter = place.start(['run', 'invoice:7', '-v', '--ttl', '500ms', '--', 'touch', 'ran']);
  await waiter.saysOnError(' for invoice:7, held by ');
  await place.holding(1, 1);
  waiter.kill('SIGSTOP');
  await place.holding(1, 0);
  waiter.kill('SIGCONT');
  await waiter.saysOnError(' for invoice:7, in line again after its place was lost, held by ');
  waiter.kill('SIGTERM');
  expect((await waiter.fate).status).toBe(143);
});
