import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { abortable, limited } from '../../src/clients/abortable.ts';
import { collect } from '../support/garbage.ts';

const forever = (signal: AbortSignal): Promise<never> => abortable(signal, new Promise(() => {}));

describe('what is limited', () => {
  let clearing: NodeJS.Timeout;
  beforeAll(() => {
    clearing = setInterval(collect, 5);
  });
  afterAll(() => clearInterval(clearing));

  it('ends in time, however often memory is cleared up', async () => {
    // Real time, for that is what the runtime may forget; it ends long before the test does.
    const ended = limited(50, [new AbortController().signal], forever);
    await expect(ended).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends with each of the signals, and by their reason', async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const ended = limited(60_000, [one.signal, two.signal], forever);
    two.abort(new Error('enough'));
    await expect(ended).rejects.toThrow('enough');
    await expect(limited(60_000, [two.signal], forever)).rejects.toThrow('enough');
  });

  it('answers what the work answers', async () => {
    await expect(limited(60_000, [], async () => 'done')).resolves.toBe('done');
  });
});
