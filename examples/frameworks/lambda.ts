/** AWS Lambda, with a timeout of 25 s: no heartbeats, since a frozen process sends none. */
import type { Locks } from 'holdfast';
import { connect } from 'holdfast/connect';
import { ship } from './ship.ts';

// For all calls of this process.
let locks: Promise<Locks> | undefined;

export async function handler(event: { readonly order: string }): Promise<{ statusCode: number }> {
  locks ??= connect(process.env.LOCKS ?? 'redis://localhost');
  // The platform ends the function before the lock ends.
  const order = (await locks).mutex(`order:${event.order}`, { heartbeat: false, ttl: '30s' });
  const result = await order.tryRun(async (lease) => {
    lease.assertHeld(); // before what cannot be undone: this process may have stood still
    await ship(event.order, lease.signal);
  });
  return { statusCode: result.acquired ? 200 : 409 };
}
