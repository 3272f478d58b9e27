/** Hono, on Node: an order that is being shipped is a 409, and who has left waits no more. */
import { type Locks, refusalOf } from 'holdfast';
import { Hono } from 'hono';
import { ship } from './ship.ts';

export function orderServer(locks: Locks): Hono {
  const app = new Hono();

  app.post('/orders/:id/ship', async (c) => {
    const id = c.req.param('id');
    const terms = { wait: '1s', signal: c.req.raw.signal } as const;
    const sent = await locks.mutex(`order:${id}`).run(terms, ({ signal }) => ship(id, signal));
    return c.json({ sent });
  });

  app.onError((error, c) => {
    const refusal = refusalOf(error);
    if (!refusal) return c.json({ error: 'Internal error.' }, 500);
    const { status, retryAfter } = refusal;
    return c.json({ error: 'Busy.' }, status, { 'Retry-After': String(retryAfter) });
  });

  return app;
}
