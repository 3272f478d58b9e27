/** What errors ask about a server that has never replied. */
import { StoreError } from 'holdfast';
import { expect, it } from 'vitest';
import { KeptConnection } from '../../src/clients/kept-connection.ts';
import { Opening } from '../../src/clients/opening.ts';
import type { Source, Wire } from '../../src/clients/wire.ts';

const wire: Wire = { ping: async () => {}, unref: () => {}, close: () => {} };

const sourceOf = (open: () => Promise<Wire>): Source<Wire> => ({
  ...{ server: 'the server', silenceMs: 1000, atOnce: 1, question: 'Is it one?', open },
  judge: (cause) => ({
    ...{ broken: true, mute: cause !== 'refused' },
    error: new StoreError(`It failed (${cause}).`, { retryable: true, outcome: 'failed' }),
  }),
});

it('ask until a wire was open, if the server has said nothing', async () => {
  let reachable = false;
  const source = sourceOf(() => (reachable ? Promise.resolve(wire) : Promise.reject('away')));
  const { signal: closing } = new AbortController();
  const ready = async (): Promise<void> => {};
  const opening = new Opening(source, { closing, received: () => {}, ready });
  const said = (cause: unknown): string => opening.judge(cause, 'open').error.message;
  await expect(opening.next()).rejects.toBe('away');
  expect(said('away')).toBe('It failed (away). Is it one?');
  expect(said('refused')).toBe('It failed (refused).');
  reachable = true;
  await opening.next();
  expect(said('away')).toBe('It failed (away).');
});

it('ask who waited in vain for the first connection', async () => {
  const connection = new KeptConnection(sourceOf(() => new Promise(() => {})));
  await expect(connection.ask(async () => {}, { withinMs: 1 })).rejects.toThrow(
    /timeout: no connection yet\)\. Is it one\?$/,
  );
  connection.close();
});
