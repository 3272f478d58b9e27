/** The rows beside those of another program, which is played by statements of its own. */
import type { Store } from 'holdfast';
import { shedlockJdbcStore } from 'holdfast/shedlock';
import { springJdbcStore } from 'holdfast/spring';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimOf, sleep } from '../../methods/faults/bed.ts';
import { paced } from '../../support/this-run.ts';
import { type Ground, ground, MARIADB, POSTGRES } from './ground.ts';
import { intLock, SHEDLOCK } from './tables.ts';

/** Three quarters of it are time enough to ask, and all of it to look. */
const SKEW_MS = paced(1000);
const NOW = { postgres: "timezone('utc', clock_timestamp())", mysql: 'UTC_TIMESTAMP(6)' } as const;

describe.each([
  ['PostgreSQL', POSTGRES],
  ['MariaDB', MARIADB],
] as const)('%s', (_, database) => {
  const { dialect } = database;
  const now = NOW[dialect];
  const at = (ms: number): string =>
    dialect === 'postgres'
      ? `${now} + ${ms} * interval '1 millisecond'`
      : `TIMESTAMPADD(MICROSECOND, ${ms * 1000}, ${now})`;
  let place: Ground;
  let jobs: Store;
  let registry: Store;
  beforeAll(async () => {
    place = await ground(database, SHEDLOCK[dialect]);
    await place.send(intLock(dialect, 7));
    jobs = shedlockJdbcStore(place.db);
    registry = springJdbcStore(place.db, { version: 7, clockSkew: SKEW_MS });
  });
  afterAll(() => place.close());

  const job = (name: string, untilMs: number): Promise<unknown> =>
    place.send(`INSERT INTO shedlock (name, lock_until, locked_at, locked_by)
VALUES ('${name}', ${at(untilMs)}, ${now}, 'another host')`);
  const change = (name: string, columns: string): Promise<unknown> =>
    place.send(`UPDATE shedlock SET ${columns} WHERE name = '${name}'`);
  /** How many ms the row has left by its column, and its holder. */
  const read = async (table: string, where: string, until: string, holder: string) => {
    const ms =
      dialect === 'postgres'
        ? `extract(epoch FROM ${until} - ${now}) * 1000`
        : `TIMESTAMPDIFF(MICROSECOND, ${now}, ${until}) / 1000`;
    const text = `SELECT ${ms} AS ms, ${holder} AS holder FROM ${table} WHERE ${where}`;
    const sent = await place.send(text);
    const rows =
      dialect === 'postgres' ? (sent as { rows: unknown[] }).rows : (sent as [unknown[]])[0];
    const [row] = rows as { ms: unknown; holder: string }[];
    return row && { ms: Number(row.ms), holder: row.holder };
  };
  const ofJob = (name: string) => read('shedlock', `name = '${name}'`, 'lock_until', 'locked_by');
  const state = async (asked: Promise<readonly { readonly state: string }[]>): Promise<string> =>
    (await asked)[0]?.state ?? 'none';

  it('what another holds is waited for, and taken over once it has ended', async () => {
    const theirsMs = paced(800);
    await job('theirs', theirsMs);
    const claim = claimOf('theirs');
    expect(await state(jobs.claim([claim]))).toBe('waiting');
    expect(await state(jobs.claim([{ ...claim, queue: false }]))).toBe('gone');
    expect((await jobs.inspect('theirs')).holders[0]?.holder.host).toBe('another host');
    await sleep(1.1 * theirsMs);
    expect(await state(jobs.claim([claim]))).toBe('held');
    expect((await ofJob('theirs'))?.holder).toContain(claim.id);
  });

  it('two claims of one process are two owners', async () => {
    const [first, second] = [claimOf('two'), claimOf('two')];
    expect(await state(jobs.claim([first]))).toBe('held');
    expect(await state(jobs.claim([second]))).toBe('waiting');
    expect(await state(jobs.renew([second]))).toBe('gone');
    expect(await jobs.release([second])).toEqual([false]);
    expect(await state(jobs.renew([first]))).toBe('held');
  });

  it('a lease that another has ended is lost, although its row names us', async () => {
    const claim = claimOf('ended');
    await jobs.claim([claim]);
    await change('ended', `lock_until = ${at(-5)}`);
    expect(await state(jobs.renew([claim]))).toBe('gone');
    expect((await ofJob('ended'))?.ms).toBeLessThan(0);
  });

  it('a free row can be taken at once by a clock that is a little behind', async () => {
    const claim = claimOf('free');
    await jobs.claim([claim]);
    await jobs.release([claim]);
    expect((await ofJob('free'))?.ms).toBeLessThan(0);
  });

  it('clocks may differ: ours ends later than its lease, and theirs is over later', async () => {
    const claim = claimOf('skewed', { ttlMs: 5000 });
    const [status] = await registry.claim([claim]);
    expect(status).toMatchObject({ state: 'held', leftMs: 5000 });
    const ours = `CLIENT_ID = '${claim.id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}'`;
    const row = await read('INT_LOCK', ours, 'EXPIRED_AFTER', 'CLIENT_ID');
    expect(row?.ms).toBeGreaterThan(5000);
    expect(row?.ms).toBeLessThanOrEqual(5000 + SKEW_MS);
    const theirs = `CLIENT_ID = 'another'`;
    await place.send(
      `UPDATE INT_LOCK SET ${theirs}, EXPIRED_AFTER = ${at(-SKEW_MS / 4)} WHERE ${ours}`,
    );
    expect(await state(registry.claim([claimOf('skewed', { queue: false })]))).toBe('gone');
    await sleep(SKEW_MS);
    expect(await state(registry.claim([claimOf('skewed')]))).toBe('held');
  });

  it('what a claim takes that was released while it was under way is freed', async () => {
    const claim = claimOf('crossed');
    const asked = jobs.claim([claim]);
    // In the same turn, so that the claim has not come back.
    await jobs.release([{ ...claim, unanswered: true }]);
    const [status] = await asked;
    expect(status?.state).toBe('gone');
    expect(await state(jobs.claim([claimOf('crossed', { queue: false })]))).toBe('held');
  });
});
