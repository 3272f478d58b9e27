/** Servers as people run them. Each is ready when its promise resolves; `close` ends all of it. */
import { until } from '../support/until.ts';
import { freePort } from './ports.ts';
import type { RedisServerOptions, WatchedOptions } from './redis-server.ts';
import { closeAll, RedisServer } from './redis-server.ts';

export interface Replicated {
  /** The primary at the start. */
  readonly primary: RedisServer;
  readonly replicas: readonly RedisServer[];
  /** Waits until the replicas have all that the primary at the start has written so far. */
  inStep(): Promise<void>;
  close(): Promise<void>;
}

export interface Sentinels extends Replicated {
  readonly sentinels: readonly RedisServer[];
  /** What the Sentinels call the primary. */
  readonly name: string;
  /** Waits until the Sentinels have agreed on another primary than this, and answers it. */
  promoted(before: RedisServer): Promise<RedisServer>;
}

/** Independent servers, for a quorum. */
export function startFive(options: RedisServerOptions = {}): Promise<RedisServer[]> {
  return Promise.all(Array.from({ length: 5 }, () => RedisServer.start(options)));
}

/** A primary and two replicas that are in step with it. */
export async function startReplicated(options: RedisServerOptions = {}): Promise<Replicated> {
  const start = (...lines: string[]): Promise<RedisServer> => {
    const config = ['repl-diskless-sync-delay 0', ...lines, ...(options.config ?? [])];
    return RedisServer.start({ ...options, config });
  };
  const primary = await start();
  const following = `replicaof ${primary.host} ${primary.port}`;
  const replicas = await Promise.all([start(following), start(following)]);
  const inStep = (): Promise<void> => follow(primary, replicas);
  await inStep();
  return { primary, replicas, inStep, close: () => closeAll([primary, ...replicas]) };
}

/**
 * A link that is up is not enough: until a replica acknowledges for the first time, which it does
 * once a second, its primary holds back what it writes, and would take that along if it died.
 */
export async function follow(
  primary: RedisServer,
  replicas: readonly RedisServer[],
): Promise<void> {
  // Something to acknowledge that is no data.
  await primary.command('PUBLISH', 'in-step', '');
  const [, written] = (await primary.command('ROLE')) as [string, number];
  await until('were the replicas in step', async () => {
    const states = await Promise.all(replicas.map((replica) => replica.command('ROLE')));
    return states.every((state) => {
      const [, , , link, received] = state as [string, string, number, string, number];
      return link === 'connected' && received >= written;
    });
  });
}

const NAME = 'holdfast';
const QUORUM = 2;

/** The same under three Sentinels, who promote a replica when the primary is down. */
export async function startSentinels(options: WatchedOptions = {}): Promise<Sentinels> {
  const replicated = await startReplicated(options);
  const sentinels = await startSentinelsOf(replicated, options);
  const servers = [replicated.primary, ...replicated.replicas];
  const promoted = async (before: RedisServer): Promise<RedisServer> => {
    let after = before;
    await until('promoted a replica', async () => {
      const named = await Promise.all(
        sentinels.map((s) => s.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)),
      );
      const [port, ...others] = new Set(named.map((address) => Number((address as string[])[1])));
      after = servers.find((server) => server.port === port) ?? before;
      if (others.length > 0 || after === before) return false;
      const [role] = (await after.command('ROLE')) as unknown[];
      return role === 'master';
    });
    return after;
  };
  const close = (): Promise<void> => closeAll([...sentinels, ...servers]);
  return { ...replicated, sentinels, name: NAME, promoted, close };
}

async function startSentinelsOf(
  { primary, replicas }: Replicated,
  { program, downAfterMs = 1_000 }: WatchedOptions,
): Promise<RedisServer[]> {
  const { host } = primary;
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const idOf = (port: number): string => `${port}`.padStart(40, '0');
  const start = (port: number): Promise<RedisServer> => {
    const others = ports.filter((other) => other !== port);
    const config = [
      `sentinel myid ${idOf(port)}`,
      `sentinel monitor ${NAME} ${host} ${primary.port} ${QUORUM}`,
      `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
      `sentinel failover-timeout ${NAME} 2000`,
      // They would find replicas and each other, but only after two seconds.
      ...replicas.map((replica) => `sentinel known-replica ${NAME} ${host} ${replica.port}`),
      ...others.map((other) => `sentinel known-sentinel ${NAME} ${host} ${other} ${idOf(other)}`),
    ];
    return RedisServer.start({ ...(program && { program }), port, sentinel: true, config });
  };
  const sentinels = await Promise.all(ports.map(start));
  await until('saw each other', async () => {
    const seen = await Promise.all(sentinels.map((s) => s.command('SENTINEL', 'CKQUORUM', NAME)));
    return seen.every((answer) => String(answer).startsWith(`OK ${ports.length} `));
  });
  return sentinels;
}
