/** A process of tasks that all want the same lock of ZooKeeper. */
import { contestOf, memberOf } from '../contended/member.ts';
import { CURATOR, contender } from './contest.ts';
import { Curator } from './curator.ts';

let curator: Curator | undefined;

await memberOf((job) => {
  if (job.contender !== CURATOR) return contestOf(contender(job.contender), job);
  curator ??= new Curator(job.url);
  return curator.contest(job);
});
