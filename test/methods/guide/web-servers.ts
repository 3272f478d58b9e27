import type { Server, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { type FastifyInstance, fastify } from 'fastify';
import { type Locks, refusalOf } from 'holdfast';

export type Ship = (id: string, signal: AbortSignal) => Promise<string>;

/** Aborts when the client has gone without its answer. */
export function whenGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('The client has gone.'));
  });
  return gone.signal;
}

export function expressApp(locks: Locks, ship: Ship): Express {
  const app = express();

  app.post('/orders/:id/ship', async (request, response) => {
    const { id } = request.params;
    const gone = whenGone(response);
    const sent = await locks
      .mutex(`order:${id}`)
      .run({ wait: '2s', signal: gone }, ({ signal }) => ship(id, AbortSignal.any([signal, gone])));
    response.json({ sent });
  });

  app.post('/report', async (_request, response) => {
    const result = await locks.mutex('report').tryRun(({ signal }) => ship('report', signal));
    if (result.acquired) response.json({ sent: result.value });
    else response.status(409).set('Retry-After', '60').json({ error: 'It is being made.' });
  });

  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    const refusal = refusalOf(error);
    if (response.destroyed) return; // the client has left
    if (!refusal || response.headersSent) return next(error);
    const { status, retryAfter } = refusal;
    response.status(status).set('Retry-After', `${retryAfter}`).json({ error: 'Busy.' });
  });

  return app;
}

/** Takes no more requests, and lets those that hold a lock finish. */
export async function shutDown(server: Server, locks: Locks): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await locks.close({ drain: '10s' }); // requests that wait for a lock are answered with 503
  await closed;
}

export function fastifyApp(locks: Locks, ship: Ship): FastifyInstance {
  const app = fastify();

  app.post<{ Params: { id: string } }>('/orders/:id/ship', async (request, reply) => {
    const { id } = request.params;
    const gone = whenGone(reply.raw);
    const sent = await locks
      .mutex(`order:${id}`)
      .run({ wait: '2s', signal: gone }, ({ signal }) => ship(id, AbortSignal.any([signal, gone])));
    return { sent };
  });

  app.setErrorHandler((error, _request, reply) => {
    const refusal = refusalOf(error);
    if (!refusal) return reply.send(error);
    const { status, retryAfter } = refusal;
    return reply.code(status).header('Retry-After', retryAfter).send({ error: 'Busy.' });
  });

  // Before those that wait for their answer: app.close() waits for them.
  app.addHook('preClose', () => locks.close({ drain: '10s' }));

  return app;
}
