/** Spans of waits and holds, and whose children they are. */
import * as api from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { allOf, downgrade, evict } from 'holdfast';
import { createElection } from 'holdfast/election';
import { describe, expect } from 'vitest';
import { it, type Told, tell } from './sdk.ts';

/** `name < parent`, in the order in which they ended. */
function tree({ spans }: Told): string[] {
  const all = spans();
  const named = new Map(all.map((span) => [span.spanContext().spanId, span.name]));
  return all.map(({ name, parentSpanContext }) => {
    return `${name} < ${named.get(parentSpanContext?.spanId ?? '') ?? 'nothing'}`;
  });
}

function spanOf(told: Told, name: string): ReadableSpan {
  const found = told.spans().find((span) => span.name === name);
  if (!found) throw new Error(`There is no span ${name}.`);
  return found;
}

const ERROR = { code: api.SpanStatusCode.ERROR };
const UNSET = { code: api.SpanStatusCode.UNSET };

describe('the parent is the span in which the lock was asked for', () => {
  it('acquire: of the wait and of the hold, which ends with the release', async ({ told }) => {
    const lease = await told.inSpan('caller', () => told.locks.mutex('a').acquire());
    expect(tree(told)).toEqual(['acquire mutex < caller', 'caller < nothing']);
    await told.inSpan('elsewhere', () => lease.release());
    expect(tree(told)).toEqual([
      ...['acquire mutex < caller', 'caller < nothing'],
      ...['hold mutex < caller', 'elsewhere < nothing'],
    ]);
  });

  it('run: the work is in the hold, and what follows is not', async ({ told }) => {
    const { locks, inSpan } = told;
    await inSpan('caller', async () => {
      await locks.mutex('a').run(() => inSpan('work', async () => {}));
      await inSpan('after', async () => {});
    });
    expect(tree(told)).toEqual([
      ...['acquire mutex < caller', 'work < hold mutex', 'hold mutex < caller'],
      ...['after < caller', 'caller < nothing'],
    ]);
  });

  it('tryAcquire and tryRun: whether they get the lock or not', async ({ told }) => {
    const { locks, inSpan } = told;
    const lock = locks.mutex('a');
    await inSpan('first', () => lock.tryRun(() => inSpan('work', async () => {})));
    const lease = await lock.acquire();
    await inSpan('second', () => lock.tryAcquire());
    expect(tree(told)).toEqual([
      ...['try mutex < first', 'work < hold mutex', 'hold mutex < first', 'first < nothing'],
      ...['acquire mutex < nothing', 'try mutex < second', 'second < nothing'],
    ]);
    const [taken] = told.spans().slice(-2);
    expect(taken?.attributes['holdfast.outcome']).toBe('taken');
    expect(taken?.status).toEqual(UNSET);
    await lease.release();
  });

  it('tasks that hand the lock on: each hold belongs to its own caller', async ({ told }) => {
    const { locks, inSpan } = told;
    await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        inSpan(name, () => locks.mutex('a').run(() => inSpan(`work of ${name}`, async () => {}))),
      ),
    );
    const holds = tree(told).filter((line) => /hold/.test(line));
    expect(holds).toEqual([
      ...['work of one < hold mutex', 'hold mutex < one'],
      ...['work of two < hold mutex', 'hold mutex < two'],
      ...['work of three < hold mutex', 'hold mutex < three'],
    ]);
    const traces = told.spans().map((span) => span.spanContext().traceId);
    expect(new Set(traces).size).toBe(3);
    const handedOn = told.spans().filter((span) => span.attributes['holdfast.hand_off.type']);
    expect(handedOn.map(({ parentSpanContext }) => parentSpanContext?.traceId)).toEqual(
      [...new Set(traces)].slice(1),
    );
    const reasons = handedOn.map((span) => span.attributes['holdfast.takeover.reason']);
    expect(reasons).toEqual(['released', 'released']);
    expect(told.spans().every(({ links }) => links.length === 0)).toBe(true);
  });
});

describe('every kind has spans', () => {
  it('semaphores, with their permits, in a trace of their own if nobody has one', async () => {
    const told = tell();
    await told.locks.semaphore('s', { limit: 3 }).run({ permits: 2 }, () => {});
    expect(tree(told)).toEqual(['acquire permits < nothing', 'hold permits < nothing']);
    expect(spanOf(told, 'hold permits').attributes).toMatchObject({ 'holdfast.permits': 2 });
  });

  it('read-write locks', async ({ told }) => {
    const { read, write } = told.locks.rwLock('config');
    await read.run(() => {});
    await write.run((lease) => downgrade(lease));
    expect(tree(told).map((line) => line.split(' < ')[0])).toEqual([
      ...['acquire read', 'hold read', 'acquire write', 'hold write'],
    ]);
  });

  it('several locks at once: the work is in the last hold', async () => {
    const told = tell({ nameOf: (resource) => resource });
    const { locks, inSpan } = told;
    const both = allOf([locks.mutex('b'), locks.mutex('a')]);
    await inSpan('caller', () => both.run(() => inSpan('work', async () => {})));
    const lines = tree(told);
    expect(lines.slice(0, 2)).toEqual(['acquire mutex a < caller', 'acquire mutex b < caller']);
    expect(lines[2]).toMatch(/^work < hold mutex [ab]$/);
    expect(lines.slice(3).sort()).toEqual([
      ...['caller < nothing', 'hold mutex a < caller', 'hold mutex b < caller'],
    ]);
  });

  it('elections: standing by and leading', async ({ told }) => {
    const candidate = await told.inSpan('start', async () =>
      createElection(told.locks, 'e').campaign(),
    );
    for await (const term of candidate) {
      expect(term.lease.held).toBe(true);
      break;
    }
    expect(tree(told)).toEqual([
      ...['acquire permits < start', 'start < nothing', 'hold permits < start'],
    ]);
  });

  it('nested runs of one holder: nothing is asked for, so there is nothing to tell', async () => {
    const told = tell();
    const lock = told.locks.mutex('a', { reentrant: true });
    await lock.run(() => lock.run(() => told.inSpan('work', async () => {})));
    expect(tree(told)).toEqual([
      ...['acquire mutex < nothing', 'work < hold mutex', 'hold mutex < nothing'],
    ]);
  });
});

describe('what goes wrong', () => {
  it('a wait of more than a second says why', async ({ told }) => {
    const lock = told.locks.mutex('a');
    const lease = await lock.acquire();
    const next = lock.acquire();
    await new Promise((resolve) => told.locks.on('waiting', resolve));
    await lease.release();
    await (await next).release();
    const waits = told.spans().filter(({ name }) => name === 'acquire mutex');
    expect(waits.map(({ attributes }) => attributes['holdfast.wait.why'])).toEqual([
      undefined,
      'held',
    ]);
  });

  it('a wait that runs out, and one that is aborted', async ({ told }) => {
    const lock = told.locks.mutex('a');
    const lease = await lock.acquire();
    await expect(lock.acquire({ wait: 1 })).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    const controller = new AbortController();
    const aborted = lock.acquire({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    const [late, left] = told.spans().slice(1);
    const type = { 'error.type': 'ACQUIRE_TIMEOUT' };
    expect(late?.attributes).toMatchObject({ 'holdfast.outcome': 'timeout', ...type });
    expect(late?.attributes).toMatchObject({ 'holdfast.wait.why': 'held' });
    expect(late?.status).toEqual(ERROR);
    expect(left?.attributes).toMatchObject({ 'holdfast.outcome': 'aborted' });
    expect(left?.status).toEqual(UNSET);
    await lease.release();
  });

  it('a lease that is lost: its hold ends there, though the work goes on', async ({ told }) => {
    const { locks } = told;
    const work = locks.mutex('a').run(async ({ signal, token }) => {
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
      await evict(locks, 'a', { token, reason: 'to see it told', now: true });
      await aborted;
      expect(spanOf(told, 'hold mutex').ended).toBe(true);
      expect(api.trace.getActiveSpan()?.isRecording()).toBe(false);
    });
    await expect(work).rejects.toMatchObject({ code: 'LEASE_LOST' });
    const { attributes, status } = spanOf(told, 'hold mutex');
    expect(status).toEqual(ERROR);
    expect(attributes).toMatchObject({
      ...{ 'holdfast.loss.reason': 'evicted', 'error.type': 'LEASE_LOST' },
    });
    expect(told.spans().length).toBe(2);
  });

  it('work that fails is the business of its own spans', async ({ told }) => {
    const failed = told.locks.mutex('a').run(() => Promise.reject(new Error('mine')));
    await expect(failed).rejects.toThrow('mine');
    expect(spanOf(told, 'hold mutex').status).toEqual(UNSET);
  });
});

describe('what they tell', () => {
  it('is nothing that a resource is called, unless the user says so', async ({ told }) => {
    const lock = told.locks.mutex('user:alice@example.com');
    await lock.run(() => expect(lock.acquire({ wait: 1 })).rejects.toThrow('alice'));
    const all = told.spans().map(({ name, attributes, events, status }) => {
      return JSON.stringify({ name, attributes, events, status });
    });
    expect(all.length).toBe(3);
    expect(all.join()).not.toContain('alice');
  });

  it('is the name that the user gives, the token, and with `resources` the full one', async () => {
    const told = tell({ nameOf: (resource) => resource.split(':')[0], resources: true });
    const lock = told.locks.mutex('user:alice@example.com');
    let token = 0n;
    await lock.run(async (lease) => {
      token = lease.token;
      await expect(allOf([lock]).acquire({ wait: 1 })).rejects.toThrow('alice');
    });
    expect(tree(told).map((line) => line.split(' < ')[0])).toEqual([
      ...['acquire mutex user', 'acquire mutex user', 'hold mutex user'],
    ]);
    const known = {
      ...{ 'holdfast.lock.kind': 'mutex', 'holdfast.store': 'memory' },
      ...{ 'holdfast.lock.name': 'user', 'holdfast.resource': 'user:alice@example.com' },
    };
    expect(spanOf(told, 'hold mutex user').attributes).toEqual({
      ...known,
      'holdfast.token': String(token),
    });
    const [event] = told.spans()[1]?.events ?? [];
    expect(event?.name).toBe('exception');
  });
});
