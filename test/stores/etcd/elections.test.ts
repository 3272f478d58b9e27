/** Candidates that are processes, which die or stand still: who leads, and who is next. */
import { once } from 'node:events';
import { isLockError, type Lease, type Member } from 'holdfast';
import { type Candidate, createElection, type Election } from 'holdfast/election';
import { expect } from 'vitest';
import { inTurn } from '../../methods/faults/bed.ts';
import { Child } from '../../methods/processes/child.ts';
import type { CandidateOptions, Leads, Led } from '../../methods/processes/children/candidate.ts';
import { machineMs } from '../../methods/processes/children/talk.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

const OFFICE = 'office';

/** Nobody dies of a machine that stands still for a second, and a few lives fit into a test. */
const MORTAL_TTL_MS = paced(3000);

/** Who stands in this process, where too many who lead at once are seen at once. */
class Race extends Bed {
  /** In the order in which they began. */
  readonly terms: { readonly label: string; readonly lease: Lease }[] = [];
  /** What must not happen, in words. */
  readonly #violations: string[] = [];
  readonly #candidates: Candidate[] = [];
  readonly #campaigns: Promise<void>[] = [];
  readonly #office: Election;

  constructor() {
    super(server);
    this.#office = createElection(this.patientLocks(server), OFFICE);
  }

  /** It has its place in the queue. */
  async stand(label: string): Promise<Candidate> {
    const candidate = createElection(this.patientLocks(server), OFFICE).campaign({ label });
    this.#candidates.push(candidate);
    this.#campaigns.push(this.#lead(label, candidate).catch(closed));
    await until(`did ${label} stand`, async () => (await this.#standings()).includes(label));
    return candidate;
  }

  /** Of another process. */
  standElsewhere(label: string): Child {
    const store = this.urlOf(server);
    const options: CandidateOptions = { store, name: OFFICE, label, ttl: MORTAL_TTL_MS };
    return new Child('candidate', options);
  }

  /** `leaders|standbys`, by their labels. */
  sees(standings: string): Promise<void> {
    return until(`saw ${standings}`, async () => (await this.#standings()) === standings);
  }

  /** These have led here, in this order, and no others. */
  async led(...those: readonly string[]): Promise<void> {
    const all = (): string => this.terms.map(({ label }) => label).join();
    await until(`led ${those}`, () => all() === those.join());
    expect(this.#violations).toEqual([]);
  }

  /** Everybody resigns, and nothing stays. */
  async over(): Promise<void> {
    await Promise.all(this.#candidates.map((candidate) => candidate.resign()));
    await Promise.all(this.#campaigns);
    expect(this.#violations).toEqual([]);
    await this.end(server);
  }

  async #standings(): Promise<string> {
    const { leaders, standbys } = await this.#office.standings();
    return `${labels(leaders)}|${labels(standbys)}`;
  }

  async #lead(label: string, candidate: Candidate): Promise<void> {
    for await (const { lease, signal } of candidate) {
      const leaders = this.#candidates.filter(({ state }) => state === 'leader');
      if (leaders.length > 1) this.#violations.push(`${label} is one too many`);
      const last = this.terms.at(-1)?.lease.token ?? 0n;
      if (lease.token <= last) this.#violations.push(`the token of ${label} did not grow`);
      this.terms.push({ label, lease });
      if (!signal.aborted) await once(signal, 'abort');
    }
  }
}

function labels(members: readonly Member[]): string {
  return members.map(({ holder }) => holder.label).join(' ');
}

/** A test that fails leaves without resigning. */
function closed(error: unknown): void {
  if (!isLockError(error, 'CLOSED')) throw error;
}

const inRace = inTurn(() => new Race());

inRace('a leader is killed: the next in order leads when its TTL is over', async (race) => {
  const child = race.standElsewhere('x');
  const { token } = await child.next<Leads>('leads');
  const [b, c] = [await race.stand('b'), await race.stand('c')];
  child.kill('SIGKILL');
  await race.led('b');
  expect(race.terms[0]?.lease.takeover).toEqual({ reason: 'expired', token });
  expect([b.state, c.state]).toEqual(['leader', 'standby']);
  await race.sees('b|c');
  await race.over();
});

inRace('a standby is killed: it holds nobody up for longer than its TTL', async (race) => {
  const a = await race.stand('a');
  const child = race.standElsewhere('x');
  await race.sees('a|x');
  await race.stand('c');
  child.kill('SIGKILL');
  await child.exited();
  await a.resign();
  await race.led('a', 'c');
  await race.sees('c|');
  await race.over();
});

inRace('a leader is stopped: when it goes on, it finds that it leads no more', async (race) => {
  const child = race.standElsewhere('x');
  await child.next<Leads>('leads');
  const b = await race.stand('b');
  child.kill('SIGSTOP');
  await race.led('b');
  const begun = machineMs();
  child.kill('SIGCONT');
  const { lastLedAt, reason } = await child.next<Led>('led');
  expect(lastLedAt).toBeLessThanOrEqual(begun);
  expect(reason).toBe('stalled');
  await race.sees('b|x');
  expect(child.heard('leads')).toHaveLength(1);
  await b.resign();
  await until('led it again', () => child.heard('leads').length === 2);
  child.tell({ type: 'enough' });
  await child.exited();
  await race.over();
});

inRace('a standby is stopped while its turn comes and goes: it never led', async (race) => {
  const a = await race.stand('a');
  const child = race.standElsewhere('x');
  await race.sees('a|x');
  const c = await race.stand('c');
  child.kill('SIGSTOP');
  await a.resign();
  await race.led('a', 'c');
  child.kill('SIGCONT');
  await race.sees('c|x');
  expect(child.heard('leads')).toEqual([]);
  await c.resign();
  const { token } = await child.next<Leads>('leads');
  expect(token).toBeGreaterThan(race.terms[1]?.lease.token ?? 0n);
  child.tell({ type: 'enough' });
  await child.exited();
  await race.over();
});
