/** 50 tasks of one process that ask for the same lock at once, each once, and then again. */
import { contest } from './contest.ts';

const setting = { figure: 'redis/one-process', processes: 1, tasks: 50, drained: 500 };

await contest(setting, (contender, measured) => {
  if (contender !== 'holdfast') return {};
  const met = measured['gap median ms'] <= 0.02 && measured.failures === 0;
  return { goal: 'gap ≤ 0.02 ms', met };
});
