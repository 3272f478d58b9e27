/** What is the same on each server. */
import { expect, it } from 'vitest';
import { Place } from '../program.ts';

/** A password that no error repeats. */
export const SECRET = 'canary-4711';

/** Runs a command under a lock, and shows it. */
export async function runsAndShows(store: string): Promise<void> {
  const run = ['run', 'a', '--', 'sh', '-c', '$holdfast show a --json'];
  const env = { HOLDFAST_STORE: store };
  const { status, out, err } = await new Place().start(run, { env }).fate;
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(JSON.parse(out).holders).toHaveLength(1);
}

/** What is wrong, a URL in which `HERE` is the server, the status, and what the error says. */
export type Mistake = [what: string, url: string, status: number, says: RegExp];

/** Of these verbs; the server has to be there when the tests begin. */
export function mistakes(
  scheme: string,
  { server, verbs }: { server(): { readonly port: number }; readonly verbs: readonly string[] },
  more: readonly Mistake[],
): void {
  it.each<Mistake>([
    ['nobody listens', `${scheme}://127.0.0.1:1`, 69, /ECONNREFUSED/],
    ['nobody is called that', `${scheme}://no-such-host.invalid`, 69, /ENOTFOUND|EAI_AGAIN/],
    ...more,
  ])('where %s', async (_, url, expected, says) => {
    const store = url.replace('HERE', `127.0.0.1:${server().port}`);
    for (const verb of verbs) {
      const words = verb.split(' ');
      const command = words[0] === 'run' ? ['--', 'true'] : [];
      const { status, err } = await new Place().fate(...words, '--store', store, ...command);
      expect({ status, err }).toEqual({ status: expected, err: expect.stringMatching(says) });
      expect(err).not.toContain(SECRET);
      expect(err.trim().split('\n')).toHaveLength(1);
    }
  });
}

/** Who does not know the authority is refused. */
export async function needsAuthority(ca: string, run: string[], refusal: RegExp): Promise<void> {
  const place = new Place();
  place.write('ca.crt', ca);
  const env = { NODE_EXTRA_CA_CERTS: place.path('ca.crt') };
  const trusting = await place.start([...run, '--', 'echo', 'done'], { env }).fate;
  expect(trusting).toMatchObject({ status: 0, out: 'done\n', err: '' });
  const doubting = await place.fate(...run, '--', 'echo', 'done');
  expect(doubting).toMatchObject({ status: 69, err: expect.stringMatching(refusal) });
}
