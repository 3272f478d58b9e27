/** Crowds on locks of a database, and what its server says of its work. */
import { Crew } from '../contended/crowd.ts';
import { contender, database, type Observer, url } from './database.ts';
import { cpuMicros } from './server.ts';

export type Counted = 'statements an acquisition' | 'server CPU µs';

export const OURS = 'holdfast, fair';

/** Some make their tables at the first use, which several processes cannot do at once. */
export async function crewOf(observer: Observer): Promise<Crew<Counted>> {
  for (const name of database.contended) {
    const { task, close } = await contender(name)(url);
    await (await task('first')())();
    await close();
  }
  return new Crew('sql-stores/crowd-worker', async () => ({
    'statements an acquisition': await observer.statements(),
    'server CPU µs': cpuMicros(),
  }));
}
