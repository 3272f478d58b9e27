/** The store that a URL of Consul names: `consul://host:8500`, or `consuls:` for TLS. */
import { UsageError } from '../../base/errors.ts';
import { httpFacts, type ServerFacts } from '../../clients/facts/server-facts.ts';
import { HttpClient, type HttpReply } from '../../clients/http/client.ts';
import { bodyOf } from '../../clients/http/fate.ts';
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type ConsulStoreOptions, consulStore } from './index.ts';

export function openUrl(scheme: string, rest: string): Store {
  const { url, options } = read(scheme, rest);
  return consulStore(url, options);
}

/** What the agent says: its version to a token with `agent:read`, its clock to any. */
export async function facts(scheme: string, rest: string): Promise<ServerFacts> {
  const { url, options } = read(scheme, rest);
  const client = new HttpClient({ url: new URL(url), ca: options.ca });
  const headers: Record<string, string> = options.token ? { 'x-consul-token': options.token } : {};
  const ask = () => client.ask({ path: '/v1/agent/self', headers });
  return httpFacts('Consul', ask, versionIn).finally(() => client.close());
}

interface Agent {
  readonly Config: { readonly Version: string; readonly Datacenter: string };
}

/** Throws for a reply that does not tell it. */
export function versionIn(reply: HttpReply): string {
  const { Version, Datacenter } = bodyOf<Agent>('Consul', reply).Config;
  return `Consul ${Version}, an agent in ${Datacenter}`;
}

function read(scheme: string, rest: string) {
  const [, place, query = ''] = /^\/\/([^/?#@]+)\/?(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (place === undefined) {
    throw new UsageError("'consul:' needs an agent's address, as in 'consul://localhost:8500'.");
  }
  const options = optionsFrom<ConsulStoreOptions>(new URLSearchParams(query));
  return { url: `${scheme === 'consuls' ? 'https' : 'http'}://${place}`, options };
}
