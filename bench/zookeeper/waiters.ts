/** 2 processes of one task each, then with 200 tasks in all. */
import { moreAndMore } from '../contended/waiters.ts';
import { CONTENDED, crew, OURS, url } from './contest.ts';

const crowds = {
  ...{ figure: 'zookeeper/waiters', url, crew: crew() },
  ...{ contenders: CONTENDED.filter((one) => one !== 'holdfast') },
  ...{ processes: 2, tasks: [2, 10, 100, 200], rounds: 1, roundMs: 3_000, settleMs: 1_000 },
};
await moreAndMore(crowds, (contender, measured, growth) => {
  if (contender !== OURS) return {};
  const met = growth <= 1.3 && measured['requests an acquisition'] <= 5;
  return { goal: 'gap ≤ 1.3 × that of 2 waiters, requests ≤ 5', met };
});
