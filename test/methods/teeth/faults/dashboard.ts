import type { Fault } from '../fault.ts';

const dashboard = { file: 'src/dashboard/dashboard.ts' };
const streams = { file: 'src/dashboard/streams.ts' };

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
  {
    file: 'src/dashboard/reports.ts',
    name: 'the dashboard takes what another process held for the time of a hand-off',
    find: "event.handOff === 'local' && since",
    replace: 'event.handOff && since',
    why: 'the figure of hand-offs is that of the slowest process, and not its own',
  },
  {
    file: 'src/dashboard/page.ts',
    name: 'the form for the token goes to a name beside the dashboard',
    find: '<form method="post">',
    replace: '<form method="post" action="login">',
    why: 'where it is mounted without a slash, the application around it gets the token',
  },
  {
    ...streams,
    name: 'the dashboard keeps a page that left while auth was deciding',
    find: 'if (socket.destroyed) return undefined;',
    replace: '',
    why: 'after a hundred of them no page opens, and the store is read for ever',
  },
  {
    ...streams,
    name: 'the streams of the dashboard outlive their server',
    find: 'if (this.#server?.listening === false) this.end();',
    replace: '',
    why: 'a deployment waits for each open page',
  },
  {
    ...streams,
    name: 'the dashboard keeps without bound what a page does not read',
    find: 'this.#unknown.size > 2 * MAX_RESOURCES',
    replace: 'false',
    why: 'a page on a sleeping machine fills the memory of the server',
  },
  {
    file: 'src/dashboard/reports.ts',
    name: 'the dashboard tells and counts what is beyond its prefix',
    find: 'if (name.startsWith(prefix)) heard(event, name);',
    replace: 'heard(event, name);',
    why: 'those who may see some locks see all',
  },
  {
    ...dashboard,
    name: 'the dashboard shows records beyond its prefix',
    find: 'watcher.checkShown(name);',
    replace: '',
    why: 'those who may see some locks see all',
  },
  {
    file: 'src/dashboard/eviction.ts',
    name: 'the dashboard evicts beyond its prefix',
    find: 'watcher.checkShown(name);',
    replace: '',
    why: 'those who may take some locks away take any',
  },
  {
    file: 'src/dashboard/auth.ts',
    name: 'the insecure dashboard is open to every name that leads to it',
    find: "isLoopback(headers.host?.replace(/:\\d+$/, '') ?? '') &&",
    replace: '',
    why: 'a page elsewhere lets its own name lead to the machine, and reads all queues',
  },
];
