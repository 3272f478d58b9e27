/** One connection, kept up, on wires that do what a test says. */
import { StoreError } from 'holdfast';
import { afterEach, expect, test, vi } from 'vitest';
import { KeptConnection, type RequestTerms } from '../../src/clients/kept-connection.ts';
import type { Source, Wire, WireTerms } from '../../src/clients/wire.ts';
import { gate } from '../support/gate.ts';

class Line implements Wire {
  readonly calls: string[] = [];
  readonly channels: string[] = [];
  readonly terms: WireTerms;
  closed = 0;
  unrefs = 0;
  answer: (routine: string) => Promise<readonly string[]> = async (routine) => [routine];

  constructor(terms: WireTerms) {
    this.terms = terms;
  }

  call(routine: string, args: readonly string[]): Promise<readonly string[]> {
    this.calls.push([routine, ...args].join(' '));
    return this.answer(routine);
  }

  readonly listen = async (channel: string): Promise<void> => {
    this.channels.push(channel);
  };

  async ping(): Promise<void> {
    this.calls.push('ping');
  }

  unref(): void {
    this.unrefs++;
  }

  close(): void {
    this.closed++;
  }
}

class Session extends KeptConnection<Line> {
  call(routine: string, args: readonly string[], terms?: RequestTerms): Promise<readonly string[]> {
    return this.ask(async (line) => line.call(routine, args), terms);
  }
}

type Scene = { readonly session: Session; readonly lines: Line[] };

const sessions: Session[] = [];
afterEach(() => {
  for (const session of sessions.splice(0)) session.close();
  vi.useRealTimers();
});

/** `made` may keep the connection back, or change it. */
function scene(made: (line: Line) => unknown = () => {}, atOnce = 1): Scene {
  const lines: Line[] = [];
  const source: Source<Line> = {
    server: 'the server',
    silenceMs: 3000,
    atOnce,
    judge: (error, during) => ({
      broken: error !== 'refused',
      error: new StoreError(String(error), {
        retryable: true,
        outcome: during === 'call' && error !== 'refused' ? 'unknown' : 'failed',
      }),
    }),
    async open(terms) {
      const line = new Line(terms);
      lines.push(line);
      await made(line);
      return line;
    },
  };
  const session = new Session(source);
  sessions.push(session);
  return { session, lines };
}

/** The same when its first connection is there. */
async function opened(atOnce = 1): Promise<Scene & { readonly line: Line }> {
  const { session, lines } = scene(() => {}, atOnce);
  await session.call('look', []);
  return { session, lines, line: lines[0] as Line };
}

const never = (): Promise<never> => new Promise(() => {});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Lets time pass, and then the turn for input, of 1 ms here, before anybody is called late. */
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms + 1);
const failed = { code: 'STORE', outcome: 'failed' };
const unknown = { code: 'STORE', outcome: 'unknown' };

test('one connection, one call at a time, in their order', async () => {
  const { session, lines } = scene();
  let [busy, most] = [0, 0];
  const all = ['a', 'b', 'c'].map((name) => session.call('look', [name]));
  await turn();
  const [line] = lines as [Line];
  line.answer = async (routine) => {
    most = Math.max(most, ++busy);
    await turn();
    busy--;
    return [routine];
  };
  expect(await Promise.all([...all, session.call('sweep', [])])).toHaveLength(4);
  expect(line.calls).toEqual(['look a', 'look b', 'look c', 'sweep']);
  expect([lines.length, most]).toEqual([1, 1]);
});

test('what was written when it breaks is unknown, and not written again', async () => {
  const { session, lines, line: first } = await opened();
  first.answer = never;
  const written = session.call('claim', ['2']);
  const waits = session.call('renew', ['3']);
  first.terms.lost('broken');
  await expect(written).rejects.toMatchObject(unknown);
  await waits;
  const [, second] = lines as [Line, Line];
  expect(first.calls).toEqual(['look', 'claim 2']);
  expect(second.calls).toEqual(['renew 3']);
  expect(first.closed).toBe(1);
  // What comes from it later concerns nobody.
  first.terms.lost('again');
  await session.call('look', ['4']);
  expect(lines).toHaveLength(2);
});

test('many at once, written in their order, and unknown if it breaks', async () => {
  const { session, lines } = scene(() => {}, Number.POSITIVE_INFINITY);
  const early = ['a', 'b'].map((name) => session.call('look', [name]));
  await Promise.all(early);
  const [first] = lines as [Line];
  first.answer = never;
  const written = ['c', 'd'].map((name) => session.call('claim', [name]));
  expect(session.idle).toBe(false);
  expect(first.calls).toEqual(['look a', 'look b', 'claim c', 'claim d']);
  first.terms.lost('refused');
  for (const each of written) await expect(each).rejects.toMatchObject(unknown);
  await session.call('look', ['e']);
  expect(lines.map(({ calls }) => calls.length)).toEqual([4, 1]);
});

test('one that a reply shows to be of no use is replaced', async () => {
  const { session, lines, line: first } = await opened(2);
  first.answer = never;
  const other = session.call('look', []);
  first.answer = () => Promise.reject('broken');
  await expect(session.call('look', [])).rejects.toMatchObject(unknown);
  await expect(other).rejects.toMatchObject(unknown);
  session.drop(first, 'again');
  await session.call('look', []);
  expect([lines.length, first.closed]).toEqual([2, 1]);
});

test('a refusal leaves the connection, and a broken one does not stay', async () => {
  const { session, lines, line: first } = await opened();
  first.answer = () => Promise.reject('refused');
  await expect(session.call('look', [])).rejects.toMatchObject(failed);
  first.answer = () => Promise.reject('broken');
  await expect(session.call('look', [])).rejects.toMatchObject(unknown);
  await session.call('look', []);
  expect([lines.length, first.closed]).toEqual([2, 1]);
});

test('one that breaks while it is made fails whoever waits, nobody later', async () => {
  const { session, lines } = scene((line) => {
    if (lines.length === 1) line.terms.lost('broken');
  });
  await expect(session.call('look', [])).rejects.toMatchObject(failed);
  await session.call('look', []);
  expect(lines.map(({ closed }) => closed)).toEqual([1, 0]);
});

test('one that is there when the session has been closed is closed as well', async () => {
  let ready = (): void => {};
  const { session, lines } = scene(() => new Promise<void>((resolve) => (ready = resolve)));
  const call = session.call('look', []);
  session.close();
  await expect(call).rejects.toMatchObject({ ...failed, retryable: false });
  ready();
  await turn();
  expect(lines[0]?.closed).toBe(1);
  await expect(session.call('look', [])).rejects.toMatchObject({ ...failed, retryable: false });
});

test('one that is on its way when the server may have changed is never used', async () => {
  const way = gate();
  const { session, lines } = scene(() => way.opened);
  const call = session.call('look', []);
  session.move();
  way.open();
  await call;
  expect(lines.map(({ calls, closed }) => [calls, closed])).toEqual([
    [[], 1],
    [['look'], 0],
  ]);
});

test('closed in the very turn in which it opens', async () => {
  const { session, lines } = scene();
  const call = session.call('look', []);
  for (let n = 0; n < 20 && lines.length === 0; n++) await null;
  session.close();
  await expect(call).rejects.toMatchObject(failed);
  await turn();
  expect(lines[0]?.closed).toBe(1);
});

test('a call waits for a connection for two seconds, for its turn longer', async () => {
  vi.useFakeTimers();
  const { session } = scene(never);
  const early = session.call('look', []);
  const outcome = expect(early).rejects.toMatchObject(failed);
  await pass(2000);
  await outcome;
  const { session: other, line } = await opened();
  line.answer = () => new Promise((resolve) => setTimeout(resolve, 2000, []));
  const all = ['a', 'b', 'c'].map((name) => other.call('look', [name]));
  await vi.advanceTimersByTimeAsync(6000);
  await Promise.all(all);
  expect(line.calls).toHaveLength(4);
});

test('a call outlives the loss of a first packet, which is sent again after a second', async () => {
  vi.useFakeTimers();
  const { session } = scene(() => new Promise((resolve) => setTimeout(resolve, 1001)));
  const call = session.call('look', []);
  await pass(1100);
  expect(await call).toEqual(['look']);
});

test('a call has its turn on a connection that comes with the last input', async () => {
  vi.useFakeTimers();
  const { session, lines } = scene(async (line) => {
    line.answer = () => new Promise((resolve) => setTimeout(resolve, 500, []));
    // After those of both calls.
    await undefined;
    await new Promise((resolve) => setTimeout(resolve, 2000));
  });
  const all = ['a', 'b'].map((name) => session.call('look', [name], { withinMs: 20_000 }));
  await pass(3000);
  await Promise.all(all);
  expect(lines[0]?.calls).toEqual(['look a', 'look b']);
});

test('a call that has not had its turn in time has failed, and is never made', async () => {
  vi.useFakeTimers();
  const { session, line } = await opened();
  line.answer = () => new Promise((resolve) => setTimeout(resolve, 2000, []));
  const before = session.call('look', ['before']);
  const outcomes = [100, 1500].map((withinMs) =>
    expect(session.call('claim', [String(withinMs)], { withinMs })).rejects.toMatchObject(failed),
  );
  await pass(100);
  await outcomes[0];
  await pass(1400);
  await outcomes[1];
  await pass(500);
  await before;
  await expect(session.call('claim', ['late'], { withinMs: 0 })).rejects.toMatchObject(failed);
  expect(line.calls).toEqual(['look', 'look before']);
});

test('without an answer for three seconds it is taken for dead', async () => {
  vi.useFakeTimers();
  const { session, line } = await opened();
  line.answer = never;
  const outcome = expect(session.call('look', [])).rejects.toMatchObject(unknown);
  await pass(3000);
  await outcome;
  expect(line.closed).toBe(1);
});

test('any answer shows that it is alive, and a request may ask for a longer silence', async () => {
  vi.useFakeTimers();
  const { session, line } = await opened(Number.POSITIVE_INFINITY);
  line.answer = never;
  const outcome = expect(session.call('look', ['1'])).rejects.toMatchObject(unknown);
  await pass(2000);
  line.answer = async () => [];
  await session.call('look', ['2']);
  await pass(2000);
  expect(line.closed).toBe(0);
  line.answer = never;
  const longer = expect(session.call('wait', [], { quietMs: 2000 })).rejects.toMatchObject(unknown);
  await pass(4500);
  expect(line.closed).toBe(0);
  await pass(500);
  await Promise.all([outcome, longer]);
  expect(line.closed).toBe(1);
});

test('an answer that came while the process stood still is no silence', async () => {
  vi.useFakeTimers();
  const { session, line } = await opened();
  // It is read when the timers that were due before have run.
  line.answer = () => new Promise((resolve) => setTimeout(resolve, 3000, ['read']));
  const call = session.call('look', []);
  await pass(3000);
  expect(await call).toEqual(['read']);
  expect(line.closed).toBe(0);
});

test('who listens has a new connection at once, and hears of the gap', async () => {
  vi.useFakeTimers();
  const { session, lines } = scene();
  const heard: string[] = [];
  let resumed = 0;
  await session.listen({
    channel: 'c',
    received: (message) => heard.push(message),
    resumed: () => resumed++,
  });
  const [first] = lines as [Line];
  first.terms.received('1');
  await vi.advanceTimersByTimeAsync(5000);
  expect(first.calls).toEqual(['ping']);
  first.terms.lost('broken');
  await vi.advanceTimersByTimeAsync(0);
  const [, second] = lines as [Line, Line];
  expect([first.channels, second.channels, resumed]).toEqual([['c'], ['c'], 1]);
  second.terms.received('2');
  session.close();
  second.terms.received('3');
  expect(heard).toEqual(['1', '2']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines).toHaveLength(2);
});

test('only a request that is under way keeps the process alive', async () => {
  const { session, line } = await opened();
  expect(line.unrefs).toBe(1);
  // In one turn nobody else's timers come or go.
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const idle = timers();
  const call = session.call('look', []);
  expect(timers()).toBe(idle + 1);
  await call;
  expect(timers()).toBe(idle);
});
