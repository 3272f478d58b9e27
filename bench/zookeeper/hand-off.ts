/** Two processes of one task each, which pass the same lock to each other. */
import { versus } from '../contended/versus.ts';
import { CONTENDED, crew, OURS, url } from './contest.ts';

const setting = {
  ...{ figure: 'zookeeper/hand-off', url, crew: crew(), contenders: CONTENDED },
  ...{ processes: 2, tasks: 2, rounds: 1, roundMs: 2_000, settleMs: 500 },
};
await versus(setting, (contender, measured, ratio) => {
  if (contender !== OURS) return {};
  const met = ratio <= 1.3 && measured.failures === 0;
  return { goal: 'ratio ≤ 1.3', met };
});
