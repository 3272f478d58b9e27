/**
 * Servers read a configuration that is being reloaded, and none of them ever sees half of it.
 *
 * It consists of two files, which one server writes and three read, one file after the other.
 * Without a lock readers find the new routes with the old limits. With a read-write lock
 * all read at the same time, and while one writes, none does.
 */
import { check } from '../shared/check.ts';
import { Crew } from '../shared/crew.ts';
import * as screen from '../shared/screen.ts';
import { openSharedStage } from '../shared/stage.ts';
import { writeConfig } from './config.ts';
import type { ServerOrder, ServerPlan, ServerReport } from './server.ts';

const READERS = ['reader 1', 'reader 2', 'reader 3'];
const WRITER = 'writer';
const VERSIONS = 20;

const stage = openSharedStage();
const seen = { ready: 0, reloaded: 0, read: 0, halves: 0, last: new Set<string>() };
const crew = new Crew<ServerOrder, ServerReport>(
  new URL('./server.ts', import.meta.url),
  (name, report) => {
    seen[report.event]++;
    if (report.event !== 'read') return;
    if (report.routes !== report.limits) seen.halves++;
    if (report.limits === VERSIONS) seen.last.add(name);
  },
);
for (const name of [WRITER, ...READERS]) {
  const plan: ServerPlan = { name, stage, versions: VERSIONS };
  crew.start(name, plan);
}
await crew.until('all servers are there', () => seen.ready === READERS.length + 1);

/** All read until they have seen the last version. */
async function reloadWhileTheyRead(): Promise<string> {
  await writeConfig(stage.folder, 0);
  Object.assign(seen, { reloaded: 0, read: 0, halves: 0, last: new Set() });
  for (const name of READERS) crew.order(name, 'read');
  crew.order(WRITER, 'reload');
  const isDone = (): boolean => seen.reloaded === 1 && seen.last.size === READERS.length;
  await crew.until('all have read the last version', isDone);
  return `of ${seen.read} reads during ${VERSIONS} reloads, ${seen.halves} saw half of a new one`;
}

screen.say(`without a lock: ${await reloadWhileTheyRead()}`);
crew.orderAll('lock');
const result = await reloadWhileTheyRead();
check(seen.halves === 0, `with a read-write lock: ${result}`);
crew.orderAll('stop');
await crew.until('all servers have gone home', () => crew.size === 0);
