/** The dashboard that the command line serves; in a browser: servers/dashboard.test.ts. */
import { expect } from 'vitest';
import { ask, BEARER, TOKEN } from '../dashboard/bed.ts';
import { it, type Place, type Program } from './program.ts';

async function started(place: Place, ...flags: string[]): Promise<Program> {
  const env = flags.includes('--insecure') ? {} : { HOLDFAST_DASHBOARD_TOKEN: TOKEN };
  const program = place.start(['dashboard', '--port', '0', ...flags], { env });
  await program.says('\n');
  return program;
}

it('refuses to start without a token, or insecure beyond loopback', async ({ used: place }) => {
  const why = async (...args: string[]) => {
    const { status, err } = await place.fate('dashboard', ...args);
    return `${status} ${err}`;
  };
  expect(await why()).toMatch(/^64 holdfast: HOLDFAST_DASHBOARD_TOKEN needs .* of at least 16/);
  expect(await why('--insecure', '--host', '0.0.0.0')).toMatch(/^64 .*only for loopback/);
  expect(await why('--insecure', '--port', '70000')).toMatch(/^64 .*from 0 to 65535/);
});

it('serves those who have the token until it is interrupted', async ({ used: place }) => {
  const program = await started(place);
  const url = program.out.trim();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  expect((await ask(url)).status).toBe(401);
  expect((await ask(url, { headers: BEARER })).status).toBe(200);
  program.kill('SIGINT');
  expect(await program.fate).toMatchObject({ status: 0, err: '' });
});

it('is open to this machine alone if it is insecure', async ({ used: place }) => {
  const program = await started(place, '--insecure', '--json');
  const { url } = JSON.parse(program.out) as { url: string };
  const status = async (headers: Record<string, string>) => (await ask(url, { headers })).status;
  expect(await status({})).toBe(200);
  // A page whose own name leads here.
  expect(await status({ host: 'elsewhere.example' })).toBe(401);
  program.kill('SIGTERM');
  expect(await program.fate).toMatchObject({ status: 0 });
});
