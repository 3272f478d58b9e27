/** Next.js, app/orders/route.ts: one `Locks` for a process, no heartbeats, and work afterwards. */
import { type Locks, refusalOf } from 'holdfast';
import { connect } from 'holdfast/connect';
import { after } from 'next/server';
import { ship } from './ship.ts';

export const runtime = 'nodejs'; // elsewhere there are no sockets
export const maxDuration = 25; // seconds, less than the ttl

// Development loads modules again, but keeps this.
const kept = globalThis as { orderLocks?: Promise<Locks> };

export async function POST(request: Request): Promise<Response> {
  const { id } = (await request.json()) as { id: string };
  try {
    kept.orderLocks ??= connect(process.env.LOCKS ?? 'redis://localhost');
    const order = (await kept.orderLocks).mutex(`order:${id}`, { heartbeat: false, ttl: '30s' });
    const lease = await order.acquire({ wait: '1s', signal: request.signal });
    after(() => ship(id, lease.signal).finally(lease.release));
    return Response.json({ started: id }, { status: 202 });
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    const headers = { 'Retry-After': String(refusal.retryAfter) };
    return Response.json({ error: 'Busy.' }, { status: refusal.status, headers });
  }
}
