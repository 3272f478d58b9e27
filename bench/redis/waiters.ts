/** As 5 processes, 10 to 1,000 tasks. The picture in docs/images shows it. */
import { moreAndMore } from '../contended/waiters.ts';
import { crewOf, FLOOR, RIVALS } from './contest.ts';
import { observe, serverUrl } from './server.ts';

const OURS = 'holdfast, fair';

const server = observe(serverUrl());
const crowds = {
  ...{ figure: 'redis/waiters', url: serverUrl(), crew: crewOf(server) },
  contenders: [FLOOR, OURS, ...RIVALS],
  ...{ processes: 5, tasks: [10, 100, 1_000], rounds: 2, roundMs: 800 },
};
await moreAndMore(crowds, (contender, measured, growth) => {
  if (contender !== OURS) return {};
  const met = growth <= 1.3 && measured['commands an acquisition'] <= 2.5;
  return { goal: 'gap ≤ 1.3 × that of 10 waiters, commands ≤ 2.5', met };
});
server.client.disconnect();
