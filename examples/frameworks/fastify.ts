/** Fastify: an order that is being shipped is a 409; at the end, requests under locks finish. */
import { type FastifyInstance, fastify } from 'fastify';
import { type Locks, refusalOf } from 'holdfast';
import { ship } from './ship.ts';

export function orderServer(locks: Locks): FastifyInstance {
  const app = fastify();

  app.post<{ Params: { id: string } }>('/orders/:id/ship', async ({ params: { id } }) => {
    const order = locks.mutex(`order:${id}`);
    return { sent: await order.run({ wait: '1s' }, ({ signal }) => ship(id, signal)) };
  });

  app.setErrorHandler((error, _request, reply) => {
    const refusal = refusalOf(error);
    if (!refusal) return reply.send(error);
    const { status, retryAfter } = refusal;
    return reply.code(status).header('Retry-After', retryAfter).send({ error: 'Busy.' });
  });

  app.addHook('preClose', () => locks.close({ drain: '10s' }));

  return app;
}
