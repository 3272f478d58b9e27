/** 4 processes of 25 tasks that want the same lock all the time. */
import { contest } from './contest.ts';

const setting = { figure: 'redis/processes', processes: 4, tasks: 100 };

await contest(setting, (contender, measured, ratio) => {
  if (contender !== 'holdfast, fair') return {};
  const met =
    ratio <= 1.3 &&
    measured['commands an acquisition'] <= 2.5 &&
    measured['longest wait / median'] <= 1.2 &&
    measured.failures === 0;
  return { goal: 'ratio ≤ 1.3, commands ≤ 2.5, longest wait ≤ 1.2', met };
});
