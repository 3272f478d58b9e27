/** Four workers for two seats: one that is active is killed, and the first standby takes over. */

import type { Member } from 'holdfast';
import { connect } from 'holdfast/connect';
import type { Election, Standings } from 'holdfast/election';
import { createElection } from 'holdfast/election';
import { Crew, PATIENCE_MS } from '../shared/crew.ts';
import * as screen from '../shared/screen.ts';
import type { Stage } from '../shared/stage.ts';
import { nameOf, standingsTable } from '../standby/table.ts';
import type { WorkerOrder, WorkerPlan, WorkerReport } from '../standby/worker.ts';
import type { Outcome } from './outcome.ts';

const WORKERS: readonly string[] = ['worker 1', 'worker 2', 'worker 3', 'worker 4'];
const SEATS = 2;
const TTL_MS = 1000;
const ELECTION = 'worker';

/** How often to look who is active, in ms. */
const LOOK_EVERY_MS = 100;

/** So that viewers can read who is active before that changes, in ms. */
const READING_MS = screen.isLive ? 1500 : 0;

export async function electWorkers(stage: Stage): Promise<Outcome> {
  screen.heading('4  An election: four workers, two seats, and one who is active is killed');
  await using locks = await connect(stage.store, { prefix: stage.prefix });
  const election = createElection(locks, ELECTION, { seats: SEATS, ttl: TTL_MS });
  return await new ElectionRound(election, { stage, ttlMs: TTL_MS }).run();
}

class ElectionRound {
  readonly #crew: Crew<WorkerOrder, WorkerReport>;
  readonly #election: Election;
  readonly #plan: Omit<WorkerPlan, 'name'>;
  /** Who has said that it is active. */
  readonly #active = new Set<string>();
  #standings: Standings = { leaders: [], standbys: [] };
  #mostLeaders = 0;
  #killed: Member | undefined;
  #shown = '|';

  constructor(election: Election, plan: Pick<WorkerPlan, 'stage' | 'ttlMs'>) {
    this.#election = election;
    this.#plan = { ...plan, election: ELECTION, seats: SEATS };
    this.#crew = new Crew(new URL('../standby/worker.ts', import.meta.url), (name) => {
      this.#active.add(name);
    });
  }

  async run(): Promise<Outcome> {
    screen.show(['Starting the workers.']);
    for (const name of WORKERS) this.#crew.start(name, { ...this.#plan, name });
    await this.#until('all seats are taken and the others stand by', () => {
      const { leaders, standbys } = this.#standings;
      const bothWork = leaders.every((leader) => this.#active.has(nameOf(leader)));
      return leaders.length === SEATS && standbys.length === WORKERS.length - SEATS && bothWork;
    });
    await this.#read();
    const [victim] = this.#standings.leaders;
    const [heir] = this.#standings.standbys;
    if (!victim || !heir) throw new Error('The seats were left before anybody was killed.');
    await this.#kill(victim, heir);
    await this.#read();
    screen.show([]);
    if (screen.isLive) screen.say('', ...this.#table());
    this.#crew.orderAll('stop');
    await this.#crew.until('all workers have gone home', () => this.#crew.size === 0);
    return this.#outcome(victim, heir);
  }

  async #kill(victim: Member, heir: Member): Promise<void> {
    const since = performance.now();
    this.#killed = victim;
    this.#crew.signal(nameOf(victim), 'SIGKILL');
    tell(`${describe(victim)} is killed: SIGKILL; its seat ends with its TTL`);
    await this.#until(`${nameOf(heir)} is active`, () => {
      const leads = this.#standings.leaders.some(({ number }) => number === heir.number);
      return leads && this.#active.has(nameOf(heir));
    });
    const after = ((performance.now() - since) / 1000).toFixed(1);
    tell(`${describe(heir)}, the first standby, is active after ${after} s`);
  }

  #outcome(victim: Member, heir: Member): Outcome {
    screen.say('', 'The queue of the lock is the order of the standbys; a dead one delays none.');
    const crowded = this.#mostLeaders > SEATS;
    const tookOver = `${nameOf(heir)} took over from ${nameOf(victim)}, which was killed`;
    const result = crowded ? `${this.#mostLeaders} were active on ${SEATS} seats` : tookOver;
    return { round: 'election, 2 of 4', result, good: !crowded };
  }

  /** Looks who is active and shows it as it changes, until the condition holds. */
  async #until(what: string, condition: () => boolean): Promise<void> {
    const since = performance.now();
    while (!(await this.#crew.within(LOOK_EVERY_MS, condition))) {
      this.#standings = await this.#election.standings();
      this.#mostLeaders = Math.max(this.#mostLeaders, this.#standings.leaders.length);
      this.#show();
      if (performance.now() - since > PATIENCE_MS) throw new Error(`Waited in vain until ${what}.`);
    }
  }

  async #read(): Promise<void> {
    const since = performance.now();
    await this.#until('it is read', () => performance.now() - since > READING_MS);
  }

  #show(): void {
    const { leaders, standbys } = this.#standings;
    if (leaders.length > 0) screen.show(['', ...this.#table()]);
    const now = [leaders, standbys]
      .map((list) => list.map(({ number }) => number).join())
      .join('|');
    if (screen.isLive || now === this.#shown) return;
    this.#shown = now;
    screen.say('', ...this.#table());
  }

  #table(): string[] {
    return standingsTable(this.#standings, ({ number }) => number === this.#killed?.number);
  }
}

/** What has happened, below a table that stays or above one that is live. */
function tell(text: string): void {
  screen.say(...(screen.isLive ? [text] : ['', text]));
}

function describe(member: Member): string {
  return `${nameOf(member)} (pid ${member.holder.pid})`;
}
