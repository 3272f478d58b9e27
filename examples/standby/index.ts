/**
 * Four workers share two seats, and when one that leads is killed, the next in order takes over.
 *
 * Two stand by with heartbeats, in a queue that everybody can see. On a terminal the keys 1 to 4
 * kill a worker, or start it again; q ends it all. Elsewhere leaders are killed by themselves, and
 * at any time exactly two have to lead.
 */

import { emitKeypressEvents } from 'node:readline';
import { connect } from 'holdfast/connect';
import type { Standings } from 'holdfast/election';
import { createElection } from 'holdfast/election';
import { check } from '../shared/check.ts';
import { Crew, PATIENCE_MS } from '../shared/crew.ts';
import * as screen from '../shared/screen.ts';
import { openSharedStage } from '../shared/stage.ts';
import { nameOf, standingsTable } from './table.ts';
import type { WorkerOrder, WorkerPlan, WorkerReport } from './worker.ts';

const WORKERS = ['worker 1', 'worker 2', 'worker 3', 'worker 4'];
const SEATS = 2;
const TTL_MS = 1500;
const LOOK_EVERY_MS = 50;

const stage = openSharedStage();
await using locks = await connect(stage.store, { prefix: stage.prefix });
const election = createElection(locks, 'worker', { seats: SEATS, ttl: TTL_MS });
const crew = new Crew<WorkerOrder, WorkerReport>(new URL('./worker.ts', import.meta.url), () => {});

const killed = new Set<number>();
const pids = new Map<string, number>();
let standings: Standings = { leaders: [], standbys: [] };
/** How many led, in every look since the seats were taken. */
const looks: number[] = [];

function start(name: string): void {
  const plan: WorkerPlan = { name, stage, election: 'worker', seats: SEATS, ttlMs: TTL_MS };
  pids.set(name, crew.start(name, plan));
}

function kill(name: string): void {
  killed.add(pids.get(name) ?? 0);
  pids.delete(name);
  crew.signal(name, 'SIGKILL');
}

/** Looks who leads, and shows it, until the condition holds. */
async function until(what: string, condition: () => boolean): Promise<void> {
  const since = performance.now();
  while (!(await crew.within(LOOK_EVERY_MS, condition))) {
    standings = await election.standings();
    if (looks.length > 0 || standings.leaders.length === SEATS)
      looks.push(standings.leaders.length);
    const table = standingsTable(standings, ({ holder }) => killed.has(holder.pid));
    const keys = 'keys 1 to 4 kill a worker or start it again, q ends';
    screen.show(['', ...table, '', screen.paint('dim', keys)]);
    if (playing) continue;
    if (performance.now() - since > PATIENCE_MS) throw new Error(`Waited in vain until ${what}.`);
  }
}

function areSeated(): boolean {
  const { leaders, standbys } = standings;
  return leaders.length === SEATS && standbys.length === WORKERS.length - SEATS;
}

/** Kills the first leader; the first standby has to take over. */
async function loseLeader(): Promise<void> {
  const [leader] = standings.leaders;
  const [heir] = standings.standbys;
  if (!leader || !heir) throw new Error('There is no standby to take over.');
  kill(nameOf(leader));
  const isOver = (): boolean => !standings.leaders.some(({ number }) => number === leader.number);
  await until('the seat is free', isOver);
  const now = standings.leaders.map(nameOf).join(' and ');
  check(
    standings.leaders.some(({ number }) => number === heir.number),
    `${nameOf(leader)} is killed, ${nameOf(heir)} was first in line: now ${now} lead`,
  );
}

const { stdin } = process;
const playing = screen.isLive && stdin.isTTY;
let over = false;
for (const name of WORKERS) start(name);
if (playing) {
  emitKeypressEvents(stdin);
  stdin.setRawMode(true).on('keypress', (_text, key: { name?: string; ctrl?: boolean }) => {
    over ||= key.name === 'q' || (key.name === 'c' && key.ctrl === true);
    const name = WORKERS[Number(key.name) - 1];
    if (name !== undefined) (pids.has(name) ? kill : start)(name);
  });
  await until('q is pressed', () => over);
  stdin.setRawMode(false).pause();
} else {
  await until('two lead and two stand by', areSeated);
  const [first, second] = standings.leaders.map(nameOf);
  await loseLeader();
  await loseLeader();
  for (const name of [first, second]) start(name ?? '');
  await until('those who were killed stand by', areSeated);
  const standbys = standings.standbys.map(nameOf).join(' and ');
  screen.say(`${standbys} start again, behind those who lead`);
  const wrong = looks.filter((leaders) => leaders !== SEATS).length;
  check(wrong === 0, `exactly two led in ${looks.length - wrong} of ${looks.length} looks`);
}
screen.show([]);
crew.orderAll('stop');
await crew.until('all workers have gone home', () => crew.size === 0);
