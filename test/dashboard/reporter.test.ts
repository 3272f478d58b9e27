/** What it costs a program to report, and what it hears when nobody takes it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textFrom } from 'node:stream/consumers';
import { createLocks, type Locks, systemClock } from 'holdfast';
import { type Reporter, reportTo } from 'holdfast/dashboard';
import { memoryStore } from 'holdfast/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ReportBatch } from '../../src/dashboard/wire.ts';
import { soon } from './bed.ts';

const REPORTS = 'a-token-of-the-tills';

describe('the program that reports', () => {
  type Answers = (request: IncomingMessage, bodies: readonly ReportBatch[]) => number | undefined;

  /** Of connecting, `close` and an answer, in ms: they end nothing sooner on a busy machine. */
  const LIMITS: readonly number[] = [1_000, 2_000, 5_000];

  /** Locks that report to such a server, with shorter pauses. */
  async function reporting(answers: Answers) {
    const bodies: ReportBatch[] = [];
    const server = createServer(async (request, response) => {
      bodies.push(JSON.parse(await textFrom(request)));
      const status = answers(request, bodies);
      if (status !== undefined) response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const clock = systemClock();
    const locks = createLocks(memoryStore(), {
      clock: {
        ...clock,
        setTimeout: (run, ms) => clock.setTimeout(run, LIMITS.includes(ms) ? ms : ms / 100),
      },
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const reporter: Reporter = reportTo(locks, { url, token: REPORTS });
    onTestFinished(async () => {
      await reporter.close();
      server.closeAllConnections();
      server.close();
      await locks.close({ drain: 0 });
    });
    return { locks, reporter, bodies, server };
  }

  function warned(): readonly string[] {
    const warnings: string[] = [];
    const hear = ({ code, message }: Error & { code?: string }): void => {
      if (code?.startsWith('HOLDFAST_')) warnings.push(message);
    };
    process.on('warning', hear);
    onTestFinished(() => void process.off('warning', hear));
    return warnings;
  }

  const use = ({ locks }: { readonly locks: Locks }) => locks.mutex('a').run(() => {});

  it('sends again what may not have arrived', async () => {
    const world = await reporting((_, bodies) => (bodies.length === 1 ? 503 : 204));
    await use(world);
    await soon(() => world.bodies.length).toBeGreaterThan(1);
    const [first, again] = world.bodies;
    expect(again).toEqual({ ...first, now: expect.any(Number) });
    await world.reporter.close();
    // One that was answered late was sent again.
    const batches = new Map(world.bodies.map(({ first, reports }) => [first, reports.length]));
    expect([...batches.values()].reduce((sum, count) => sum + count)).toBe(2);
    expect(world.reporter.dropped).toBe(0);
  });

  it('drops what is refused, and warns once', async () => {
    const warnings = warned();
    const world = await reporting(() => 401);
    await use(world);
    await soon(() => world.reporter.dropped).toBe(2);
    await use(world);
    await soon(() => world.reporter.dropped).toBe(4);
    await soon(() => warnings).toEqual([expect.stringMatching(/: it refuses them with 401\.$/)]);
  });

  it('warns with what was wrong when it closes and cannot send the rest', async () => {
    const warnings = warned();
    const world = await reporting(() => 503);
    await use(world);
    await world.reporter.close();
    expect(world.reporter.dropped).toBe(2);
    await soon(() => warnings).toEqual([expect.stringMatching(/: it answers 503\.$/)]);
  });

  it('follows to nowhere else', async () => {
    const elsewhere = await reporting(() => 204);
    const { port } = elsewhere.server.address() as AddressInfo;
    const location = `http://127.0.0.1:${port}/`;
    const world = await reporting(({ socket }) => {
      socket.end(`HTTP/1.1 307 Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
      return undefined;
    });
    await use(world);
    await soon(() => world.reporter.dropped).toBe(2);
    expect(elsewhere.bodies).toEqual([]);
  });

  it('does not wait for a dashboard that hangs, and can close', async () => {
    const warnings = warned();
    const world = await reporting(() => undefined);
    await use(world);
    await soon(() => world.bodies.length).toBeGreaterThan(0);
    await use(world);
    await world.reporter.close();
    expect(world.reporter.dropped).toBe(4);
    await soon(() => warnings).toEqual([expect.stringMatching(/: it did not answer in time\.$/)]);
    await use(world);
    expect(world.reporter.dropped).toBe(4);
  });

  it('goes on when its dashboard is away, and says so', async () => {
    const warnings = warned();
    const world = await reporting(() => 204);
    world.server.closeAllConnections();
    world.server.close();
    await use(world);
    await world.reporter.close();
    expect(world.reporter.dropped).toBe(2);
    await soon(() => warnings).toEqual([expect.stringMatching(/: connect ECONNREFUSED/)]);
  });

  it('warns of what goes on to fail, although there is room for more', async () => {
    const warnings = warned();
    const world = await reporting((_, bodies) => (bodies.length > 10 ? 204 : 500));
    await use(world);
    await soon(() => warnings).toEqual([expect.stringMatching(/: it answers 500\.$/)]);
    await soon(() => world.bodies.length).toBeGreaterThan(10);
    await world.reporter.close();
    expect(world.reporter.dropped).toBe(0);
  });
});
