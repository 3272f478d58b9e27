import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from 'holdfast';
import { Queues } from './queues.ts';
import { fromJson, type Question, toJson } from './talk.ts';

export interface LockServerOptions {
  readonly port?: number;
  readonly maxWaiters?: number;
  /**
   * A server that starts does not know what it granted before. It answers no one until all claims
   * of its former life have ended: the longest TTL of its users, in ms; default 30 s.
   */
  readonly quarantineMs?: number;
  /** By which claims end; tests pass their own. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Keeps the locks of all programs that reach this port. */
export async function lockServer(options: LockServerOptions = {}): Promise<Server> {
  const { port = 7171, maxWaiters = 10_000, quarantineMs = 30_000, clock = performance } = options;
  await sleep(quarantineMs);
  const queues = new Queues(maxWaiters, clock);
  const lineage = `lock-server:${randomUUID()}`;
  const answer = ({ verb, claims, afterMs, resource }: Question): unknown => {
    if (verb === 'claim') return claims.map((claim) => queues.claim(claim));
    if (verb === 'renew') return claims.map((claim) => queues.renew(claim));
    if (verb === 'release') return claims.map((claim) => queues.release(claim, afterMs));
    return queues.inspect(resource);
  };
  const server = createServer(async (request, response) => {
    const question = fromJson(await text(request)) as Question;
    response.end(toJson({ lineage, answer: answer(question) }));
  });
  const sweep = setInterval(() => queues.sweep(), 60_000);
  server.once('close', () => clearInterval(sweep));
  return new Promise((resolve) => server.listen(port, () => resolve(server)));
}
