/** A configuration of two files that belong together. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What happens between the two files, in ms: a download, a slow disk. */
const BETWEEN_MS = 5;

export interface Config {
  readonly routes: number;
  readonly limits: number;
}

export async function writeConfig(folder: string, version: number): Promise<void> {
  writeFileSync(join(folder, 'routes.conf'), String(version));
  await sleep(BETWEEN_MS);
  writeFileSync(join(folder, 'limits.conf'), String(version));
}

/** The version of each file; if they differ, it is half of one configuration. */
export async function readConfig(folder: string): Promise<Config> {
  const routes = Number(readFileSync(join(folder, 'routes.conf'), 'utf8'));
  await sleep(BETWEEN_MS);
  return { routes, limits: Number(readFileSync(join(folder, 'limits.conf'), 'utf8')) };
}
