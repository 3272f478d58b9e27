/**
 * What ZooKeeper says of itself: a server's version to the command `srvr`, and the leader's clock
 * by the time at which it makes a node.
 */
import { randomUUID } from 'node:crypto';
import { destinationOf } from '../zookeeper/address.ts';
import { awake } from '../zookeeper/awake.ts';
import { zookeeperClient } from '../zookeeper/client.ts';
import { type ClockOffset, clockOffset, type ServerFacts, versionOr } from './server-facts.ts';

const PATIENCE_MS = 2_000;

/** @param root below it an ephemeral node is made, whose name is that of no lock. */
export async function zookeeperFacts(address: string, root: string): Promise<ServerFacts> {
  const [version, clock] = await Promise.all([versionAt(address), clockAt(address, root)]);
  return { version, clock };
}

export async function versionAt(address: string, ask: typeof awake = awake): Promise<string> {
  const { addresses, tls } = destinationOf(address);
  const terms = { tls, limitMs: PATIENCE_MS };
  const asked = addresses.map(async (at) => versionIn(await ask(at, terms)));
  const first = Promise.any(asked).catch(({ errors }: AggregateError) => {
    throw errors.at(-1);
  });
  return versionOr('ZooKeeper', () => first);
}

async function clockAt(address: string, root: string): Promise<ClockOffset | undefined> {
  const session = zookeeperClient(address).start();
  const path = `${root === '/' ? '' : root}/%doctor-${randomUUID()}`;
  const within = { timeoutMs: PATIENCE_MS };
  try {
    // What follows is not to wait for a connection.
    await session.exists(root, within);
    return await clockOffset(async () => {
      const { stat } = await session.create(path, { ...within, kind: 'ephemeral' });
      return stat.ctimeMs;
    });
  } catch {
    return undefined;
  } finally {
    await session.close();
  }
}

function versionIn(said: string): string {
  const [, version] = /^Zookeeper version: ([\d.]+)/m.exec(said) ?? [];
  const [, mode] = /^Mode: (\S+)/m.exec(said) ?? [];
  if (version && mode) return `ZooKeeper ${version}, ${mode}`;
  if (/not currently serving/.test(said)) throw new Error('the server has no quorum to serve with');
  throw new Error('the server does not answer `srvr`; see its 4lw.commands.whitelist');
}
