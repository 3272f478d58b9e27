/** The servers of this run: one alone, and three that agree. */
import * as etcd from '../etcd/contest.ts';
import * as zookeeper from '../zookeeper/contest.ts';

const CONTESTS = { etcd, zookeeper };

/** Which store, as the environment says. */
export const name: string = process.env.BENCH_DATABASE ?? '';

export const contest: typeof etcd | typeof zookeeper = chosen();

/** As `connect` takes them. */
export const places: ReadonlyMap<string, string> = new Map([
  ['one server', contest.url.replace('http:', 'etcd:')],
  ['three servers', contest.threeUrl],
]);

function chosen(): typeof etcd | typeof zookeeper {
  const found = CONTESTS[name as keyof typeof CONTESTS];
  if (!found) throw new Error('BENCH_DATABASE names no store.');
  return found;
}
