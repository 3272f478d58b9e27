/** The store that an etcd URL names. No message repeats any part of the URL. */
import { etcdFacts } from '../../clients/facts/etcd-facts.ts';
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import type { Store } from '../../contract/store.ts';
import { optionsFrom, serversIn } from '../url-options.ts';
import { type EtcdOptions, etcdStore } from './index.ts';

export function openUrl(scheme: string, rest: string): Store {
  const { servers, query } = serversIn(rest);
  return etcdStore(`${scheme}:${servers}`, optionsFrom<EtcdOptions>(query));
}

export function facts(scheme: string, rest: string): Promise<ServerFacts> {
  return etcdFacts(`${scheme}:${serversIn(rest).servers}`);
}
