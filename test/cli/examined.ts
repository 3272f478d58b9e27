/** What `holdfast doctor --json` finds on a real server that is well, on this machine. */
import { expect } from 'vitest';
import type { Finding } from '../../src/cli/verbs/doctor.ts';
import { Place } from './program.ts';

/** Far from what a clock is blamed for, and far from what a busy machine takes. */
const NEAR_MS = 4_000;

/** By what they are about. @param timed whether the server tells its clock. */
export async function examined(
  store: string,
  env: NodeJS.ProcessEnv = {},
  timed = true,
): Promise<Readonly<Record<string, Finding>>> {
  // The SDK of AWS warns of old versions of Node.
  const given = { ...env, HOLDFAST_STORE: store, NODE_NO_WARNINGS: '1' };
  const { status, out, err } = await new Place().start(['doctor', '--json'], { env: given }).fate;
  const well = expect.stringMatching(/^\{"ok":true,/);
  expect({ status, out, err }).toEqual({ status: 0, out: well, err: '' });
  const { findings } = JSON.parse(out) as { readonly findings: readonly Finding[] };
  const found = Object.fromEntries(findings.map((one) => [one.about, one]));
  expect(found.permissions?.says).toMatch(/^a lock was taken and released/);
  if (!timed) return found;
  expect(found.time?.says).toMatch(/^the server's clock is \d+\.\d s .* this machine's/);
  expect(Math.abs(found.time?.ms ?? Number.NaN)).toBeLessThan(NEAR_MS);
  expect(found.time?.withinMs).toBeLessThan(NEAR_MS);
  return found;
}
