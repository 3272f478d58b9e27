/** What tests of the fence in ZooKeeper share. */
import { zookeeperFence } from 'holdfast/fence';
import type {
  MultiStep,
  ZookeeperSession,
} from '../../../src/clients/zookeeper/zookeeper-session.ts';

/** It outlives what a machine that stands still does to its connection. */
export const LONG = 60_000;

export const fence: ReturnType<typeof zookeeperFence> = zookeeperFence();

export function at(resource: string): { resource: string; lineage: string } {
  return { resource, lineage: 'one' };
}

export function bytes(text: string | number): Buffer {
  return Buffer.from(`${text}`);
}

export function writing(path: string, text: string | number): MultiStep[] {
  return [{ step: 'set', path, data: bytes(text) }];
}

export async function textAt(session: ZookeeperSession, path: string): Promise<string> {
  return (await session.getData(path)).data.toString();
}

/** The session, once what the lock guards is there. */
export async function dataAt(
  session: ZookeeperSession,
  path: string,
  text: string | number = '',
): Promise<ZookeeperSession> {
  await session.create(path, { data: bytes(text) });
  return session;
}
