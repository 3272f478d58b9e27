/** 4 processes of 25 tasks that want the same lock all the time. */
import { versus } from '../contended/versus.ts';
import { CONTENDED, crew, OURS, url } from './contest.ts';

const setting = {
  ...{ figure: 'zookeeper/processes', url, crew: crew(), contenders: CONTENDED },
  ...{ processes: 4, tasks: 100, rounds: 1, roundMs: 2_000, settleMs: 500 },
};
await versus(setting, (contender, measured, ratio) => {
  if (contender !== OURS) return {};
  const met = ratio <= 1.3 && measured.failures === 0;
  return { goal: 'ratio ≤ 1.3', met };
});
