/** 4 processes of 25 tasks that want the same lock all the time. */
import { versus } from '../contended/versus.ts';
import { crewOf, OURS } from './contest.ts';
import { database, name, url } from './database.ts';

const observer = await database.observe(url);
const setting = {
  ...{
    figure: `${name}/processes`,
    url,
    crew: await crewOf(observer),
    contenders: database.contended,
  },
  ...{ processes: 4, tasks: 100, rounds: 1, roundMs: 2_000, settleMs: 500 },
};
await versus(setting, (contender, measured, ratio) => {
  if (contender !== OURS) return {};
  const met =
    ratio <= 1.5 && measured['statements an acquisition'] <= 2.5 && measured.failures === 0;
  return { goal: 'ratio ≤ 1.5, statements ≤ 2.5', met };
});
await observer.close();
