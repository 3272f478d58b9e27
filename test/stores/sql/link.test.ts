/** On which of its sessions a store in a database asks what. */
import { StoreError } from 'holdfast';
import { simulatedClock } from 'holdfast/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { linkOf, SQL_SERVER, type SqlLink, type SqlSource } from '../../../src/stores/sql/link.ts';
import { Sweeper } from '../../../src/stores/sql/sweeper.ts';
import type { Table } from '../../../src/stores/sql/table.ts';

type Answer = (lines: readonly string[]) => void;

interface Scene {
  readonly link: SqlLink;
  /** Of each session that was opened, the calls that have no answer yet. */
  readonly asked: Map<string, Answer>[];
  readonly send: (message: string) => void;
}

function scene(parts: Partial<SqlSource> = {}): Scene {
  let send = (_message: string): void => {};
  const asked: Map<string, Answer>[] = [];
  const source: SqlSource = {
    ...SQL_SERVER,
    ...parts,
    judge: () => ({
      broken: true,
      error: new StoreError('over', { retryable: true, outcome: 'unknown' }),
    }),
    async open({ received }) {
      send = received;
      const calls = new Map<string, Answer>();
      asked.push(calls);
      return {
        call: (statement) => new Promise((answer) => calls.set(statement, answer)),
        listen: async () => {},
        ping: async () => {},
        unref: () => {},
        close: () => {},
      };
    },
  };
  const link = linkOf(source);
  onTestFinished(() => link.close());
  return { link, asked, send: (message) => send(message) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a release goes where its claim went, unless it would wait for another claim', async () => {
  const { link, asked } = scene();
  const names = (): string[][] => asked.map((calls) => [...calls.keys()]);
  const claim = link.call('claim', [], { lane: 'claims' });
  await turn();
  asked[0]?.get('claim')?.(['held']);
  await claim;
  asked[0]?.clear();
  const release = link.call('release', [], { lane: 'releases' });
  expect(names()).toEqual([['release']]);
  const others = [
    link.call('renew', [], { lane: 'heartbeats' }),
    link.call('release', [], { lane: 'releases' }),
  ];
  await turn();
  // One call at a time: the second release comes after the heartbeat.
  expect(names()).toEqual([['release'], ['renew']]);
  asked[1]?.get('renew')?.([]);
  await turn();
  expect(names()).toEqual([['release'], ['renew', 'release']]);
  for (const calls of asked) for (const answer of calls.values()) answer(['1']);
  await Promise.all([release, ...others]);
});

test('a sweep delays no claim, and rests for most of the time', async () => {
  const { link, asked } = scene();
  const clock = simulatedClock();
  const swept = new Sweeper(clock, { link } as Table).sweep();
  await turn();
  const claim = link.call('claim', [], { lane: 'claims' });
  await turn();
  expect(asked.map((calls) => [...calls.keys()])).toEqual([['raise_highest'], ['claim']]);
  asked[1]?.get('claim')?.(['held']);
  await claim;
  const sweeping = asked[0];
  sweeping?.get('raise_highest')?.([]);
  await turn();
  await clock.sleep('1s');
  sweeping?.get('sweep')?.(['the last name of a portion']);
  sweeping?.clear();
  await clock.sleep('2.9s');
  expect(sweeping?.size).toBe(0);
  await clock.sleep('200ms');
  expect([...(sweeping?.keys() ?? [])]).toEqual(['sweep']);
  sweeping?.get('sweep')?.([]);
  await swept;
});

test.each([
  ['of a server that has none of its own is a look', { own: true }, ['look']],
  ['of a server that others may send with is none', {}, []],
])('an empty message %s', async (_, parts, statements) => {
  const { link, asked, send } = scene(parts);
  await link.listen(
    'c',
    () => {},
    () => {},
  );
  send('');
  expect([...(asked[0]?.keys() ?? [])]).toEqual(statements);
});
