/** What a scenario is made of. */
import { evict, type LockErrorCode } from 'holdfast';
import { createElection } from 'holdfast/election';
import { expect, vi } from 'vitest';
import { until } from '../../support/until.ts';
import type { Module, Place } from './blocks.ts';
import type { World } from './world.ts';

/** What happens around a block, and what is expected of it then. */
export interface Scenario extends Place {
  before?(world: World): unknown;
  /** While the block runs: for what would go on for ever. */
  meanwhile?(world: World): unknown;
  after?(world: World, exported: Module): unknown;
  /** Found in what it writes to the console. */
  readonly prints?: string;
  /** The code of the error with which it ends. */
  readonly rejects?: LockErrorCode;
  /** Functions that it names, but does not call here. */
  readonly uncalled?: readonly string[];
}

/** The scenarios of one page, by words of the block. */
export const ofPage = (
  page: string,
  blocks: Readonly<Record<string, Omit<Scenario, keyof Place>>>,
): Scenario[] => Object.entries(blocks).map(([has, scenario]) => ({ page, has, ...scenario }));

export const printed = (world: World, text: string): Promise<unknown> =>
  until(() => world.printed.some((line) => line.includes(text)));

/** Another process holds it. */
export const hold =
  (name: string) =>
  (world: World): unknown =>
    world.others.mutex(name).acquire();

/** The same, and it hears of what becomes of it with its next heartbeat, which is soon. */
export const holdShortly =
  (name: string) =>
  (world: World): unknown =>
    world.others.mutex(name, { ttl: '1s' }).acquire();

/** What comes out of a message queue: a lease of another process. */
export const givenJob = async ({ names, others }: World): Promise<void> => {
  const lease = await others.mutex('report').acquire();
  names.job = { id: '4711', lease: await lease.handOver() };
};

export const nobodyHolds =
  (name: string) =>
  (world: World): unknown =>
    until('did nobody hold it', async () => (await world.locks.inspect(name)).holders.length === 0);

/** For listeners: something to hear. */
export const runReport = (world: World): unknown => world.locks.mutex('report').run(() => {});

export const loseReport = async ({ locks, others }: World): Promise<void> => {
  const lease = await locks.mutex('report').acquire();
  await evict(others, 'report', { token: lease.token, reason: 'test', now: true });
  await until(() => !lease.held);
  await lease.release();
};

/** The third term is the last one. */
export const resignInTime = (world: World): void => {
  const campaigns = vi.spyOn(Object.getPrototypeOf(createElection(world.locks, 'any')), 'campaign');
  world.led.call = async (term) => {
    const { value } = campaigns.mock.results[0] ?? {};
    if (term === 3) await (value as { resign(): Promise<void> }).resign();
  };
  world.stops.push(() => campaigns.mockRestore());
};

export const ledThrice = ({ calls }: World): void => expect(calls.get('lead')).toBe(3);
