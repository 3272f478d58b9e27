import type { Fault } from '../fault.ts';

const dashboard = { file: 'src/dashboard/dashboard.ts' };

/** The page of all queues, and who may see and change what. */
export const DASHBOARD_FAULTS: readonly Fault[] = [
  {
    ...dashboard,
    name: 'the dashboard shows all to those who are not let in',
    find: 'if (!(await gate.admits(request))) {',
    replace: 'if (!(await gate.admits(request)) && false) {',
    why: 'names of accounts are in front of the whole network',
  },
  {
    ...dashboard,
    name: 'a dashboard that is read-only evicts',
    find: "return readOnly ? refusal(403, 'It is read-only.') : evictFrom(request);",
    replace: 'return evictFrom(request);',
    why: 'those who may look take locks away',
  },
  {
    ...dashboard,
    name: 'the dashboard evicts for a page of another site',
    find: "if (!isSameOrigin(request)) return refusal(403, 'It does not come from this page.');",
    replace: '',
    why: 'an operator who reads a page elsewhere has locks taken away',
  },
  {
    file: 'src/dashboard/auth.ts',
    name: 'the cookie of the dashboard goes with requests of other sites',
    find: 'HttpOnly; SameSite=Strict',
    replace: 'HttpOnly; SameSite=None',
    why: 'another site acts as the operator',
  },
  {
    file: 'src/dashboard/eviction.ts',
    name: 'the name that was typed before an eviction is not compared',
    find: "if (typed !== name) throw new UsageError('What was typed is not the name.');",
    replace: '',
    why: 'the lock beside the one that was meant is taken away',
  },
  {
    file: 'src/dashboard/history.ts',
    name: 'the dashboard tells a grant of its own process twice',
    find: 'this.#known.add(key);',
    replace: '',
    why: 'rates and timelines show twice what happened',
  },
];
