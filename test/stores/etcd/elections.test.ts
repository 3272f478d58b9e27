/** Candidates that are processes, which die or stand still: who leads, and who is next. */
import { once } from 'node:events';
import { isLockError, type Lease, type Member } from 'holdfast';
import { type Candidate, createElection } from 'holdfast/election';
import { afterAll, expect, test } from 'vitest';
import { Child } from '../../methods/processes/child.ts';
import type { CandidateOptions, Leads, Led } from '../../methods/processes/children/candidate.ts';
import { machineMs } from '../../methods/processes/children/talk.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed } from './fault-bed.ts';

const server = await startEtcd();
afterAll(() => server.close());

const OFFICE = 'office';

/** Nobody dies of a machine that stands still for a second, and a few lives fit into a test. */
const MORTAL_TTL_MS = paced(3000);

/** Who stands in this process, where too many who lead at once are seen at once. */
class Race {
  /** In the order in which they began. */
  readonly terms: { readonly label: string; readonly lease: Lease }[] = [];
  readonly #bed: Bed;
  /** What must not happen, in words. */
  readonly #violations: string[] = [];
  readonly #candidates: Candidate[] = [];
  readonly #campaigns: Promise<void>[] = [];
  readonly #standings: () => Promise<string>;

  constructor(bed: Bed) {
    this.#bed = bed;
    const office = createElection(bed.patientLocks(server), OFFICE);
    this.#standings = async () => {
      const { leaders, standbys } = await office.standings();
      return `${labels(leaders)}|${labels(standbys)}`;
    };
  }

  /** It has its place in the queue. */
  async stand(label: string): Promise<Candidate> {
    const candidate = createElection(this.#bed.patientLocks(server), OFFICE).campaign({ label });
    this.#candidates.push(candidate);
    this.#campaigns.push(this.#lead(label, candidate).catch(closed));
    await until(`did ${label} stand`, async () => (await this.#standings()).includes(label));
    return candidate;
  }

  /** Of another process. */
  standElsewhere(label: string): Child {
    const store = this.#bed.urlOf(server);
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
  async leave(): Promise<void> {
    await Promise.all(this.#candidates.map((candidate) => candidate.resign()));
    await Promise.all(this.#campaigns);
    expect(this.#violations).toEqual([]);
    await this.#bed.end(server);
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

test('a leader is killed: the next in order leads when its TTL is over', async () => {
  await using bed = new Bed(server);
  const race = new Race(bed);
  const child = race.standElsewhere('x');
  const { token } = await child.next<Leads>('leads');
  const [b, c] = [await race.stand('b'), await race.stand('c')];
  child.kill('SIGKILL');
  await race.led('b');
  expect(race.terms[0]?.lease.takeover).toEqual({ reason: 'expired', token });
  expect([b.state, c.state]).toEqual(['leader', 'standby']);
  await race.sees('b|c');
  await race.leave();
});

test('a standby is killed: it holds nobody up for longer than its TTL', async () => {
  await using bed = new Bed(server);
  const race = new Race(bed);
  const a = await race.stand('a');
  const child = race.standElsewhere('x');
  await race.sees('a|x');
  await race.stand('c');
  child.kill('SIGKILL');
  await child.exited();
  await a.resign();
  await race.led('a', 'c');
  await race.sees('c|');
  await race.leave();
});

test('a leader is stopped: when it goes on, it finds that it leads no more', async () => {
  await using bed = new Bed(server);
  const race = new Race(bed);
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
  await race.leave();
});

test('a standby is stopped while its turn comes and goes: it never led', async () => {
  await using bed = new Bed(server);
  const race = new Race(bed);
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
  await race.leave();
});
