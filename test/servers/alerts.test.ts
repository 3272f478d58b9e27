/** Prometheus itself reads the alerts and the dashboard's queries, and says when alerts fire. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, it } from 'vitest';
import { ALERTS, dashboardQueries } from '../integrations/opentelemetry/operations.ts';
import { directory } from '../support/directory.ts';
import { findProgram, missing } from './programs.ts';

beforeEach(async ({ skip }) => {
  const reason = await missing('promtool');
  skip(reason !== undefined, reason);
});

/** What it prints; rejects with it if something is wrong. */
async function promtool(...args: string[]): Promise<string> {
  const [program, ...before] = await findProgram('promtool');
  const { stdout } = await promisify(execFile)(program, [...before, ...args]).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${stdout}\n${stderr}`);
    },
  );
  return stdout;
}

it('the alerts are rules of Prometheus', async () => {
  expect(await promtool('check', 'rules', fileURLToPath(ALERTS))).toContain('7 rules found');
});

it('each alert fires when it is meant to, and only then', async () => {
  const histories = fileURLToPath(new URL('alerts.yml', import.meta.url));
  expect(await promtool('test', 'rules', histories)).toContain('SUCCESS');
});

it("the dashboard's queries are queries of Prometheus", async () => {
  const file = join(directory(), 'rules.json');
  const rules = dashboardQueries().map((query, n) => ({ record: `panel_${n}`, expr: query }));
  // What is JSON is YAML, too.
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  expect(await promtool('check', 'rules', file)).toContain(`${rules.length} rules found`);
});
