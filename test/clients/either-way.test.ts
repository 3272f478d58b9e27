/** Clients of databases come in two flavours. */
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { eitherWay } from '../../src/clients/sql/session.ts';

test('a callback gets the answer or the error', async () => {
  expect(await eitherWay((done) => done(undefined, 7))).toBe(7);
  const failed = eitherWay((done) => done(new Error('refused'), undefined));
  await expect(failed).rejects.toThrow('refused');
});

test('a promise counts, also of another realm, as in Jest', async () => {
  expect(await eitherWay(() => runInNewContext('Promise.resolve(7)'))).toBe(7);
  const failed = eitherWay(() => runInNewContext("Promise.reject(new Error('refused'))"));
  await expect(failed).rejects.toThrow('refused');
});
