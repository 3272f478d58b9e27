/** As 5 processes, 10 to 500 tasks. */
import { moreAndMore } from '../contended/waiters.ts';
import { crewOf, OURS } from './contest.ts';
import { database, name, url } from './database.ts';

const observer = await database.observe(url);
const contenders = database.contended.filter((one) => one !== 'holdfast');
const crowds = {
  ...{ figure: `${name}/waiters`, url, crew: await crewOf(observer), contenders },
  ...{ processes: 5, tasks: [10, 100, 500], rounds: 1, roundMs: 3_500, settleMs: 2_000 },
};
await moreAndMore(crowds, (contender, measured, growth) => {
  if (contender !== OURS) return {};
  const met = growth <= 1.3 && measured['statements an acquisition'] <= 2.5;
  return { goal: 'gap ≤ 1.3 × that of 10 waiters, statements ≤ 2.5', met };
});
await observer.close();
