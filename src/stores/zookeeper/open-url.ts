/** The store that a ZooKeeper URL names. No message repeats any part of the URL. */
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import { zookeeperFacts } from '../../clients/facts/zookeeper-facts.ts';
import type { Store } from '../../contract/store.ts';
import { optionsFrom, serversIn } from '../url-options.ts';
import { type ZookeeperStoreOptions, zookeeperStore } from './index.ts';
import { PATH } from './layout.ts';

/** The path of the URL is the chroot; its query holds options of the store. */
export function openUrl(scheme: string, rest: string): Store {
  const { servers, query } = serversIn(rest);
  return zookeeperStore(`${scheme}:${servers}`, optionsFrom<ZookeeperStoreOptions>(query));
}

export function facts(scheme: string, rest: string): Promise<ServerFacts> {
  const { servers, query } = serversIn(rest);
  return zookeeperFacts(`${scheme}:${servers}`, query.get('path') ?? PATH);
}
