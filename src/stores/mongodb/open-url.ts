/** The store that a URL of MongoDB names: the client's own, with `collection` in its query. */
import { clockOffset, type ServerFacts } from '../../clients/facts/server-facts.ts';
import { UrlForm } from '../../clients/url-form.ts';
import { UnsupportedError } from '../../contract/errors.ts';
import type { Store } from '../../contract/store.ts';
import { closingAlso, splitQuery } from '../url-options.ts';
import { type DocumentStoreOptions, mongodbStore } from './index.ts';

const FORM = new UrlForm('The MongoDB URL', 'mongodb://user:password@host:27017/shop');

type UrlOptions = DocumentStoreOptions & { readonly collection?: string };

export async function openUrl(scheme: string, rest: string): Promise<Store> {
  const { client, collection, options } = await open(scheme, rest);
  const store = mongodbStore(client.db().collection(collection), options);
  return closingAlso(store, { end: () => client.close() });
}

export async function facts(scheme: string, rest: string): Promise<ServerFacts> {
  const { client } = await open(scheme, rest);
  const ask = (command: object) =>
    client.db('admin').command(command, { readPreference: 'primary' });
  try {
    const { version } = await ask({ buildInfo: 1 });
    let set: string | undefined;
    // Servers before 4.4 know it by no other name, and all later ones by this one as well.
    const clock = await clockOffset(async () => {
      const { localTime, setName } = await ask({ isMaster: 1 });
      set = setName;
      return localTime?.getTime();
    });
    return { version: `MongoDB ${version}, ${set ? `replica set ${set}` : 'sharded'}`, clock };
  } finally {
    await client.close();
  }
}

async function open(scheme: string, rest: string) {
  const [, place, query = ''] = /^(\/\/[^/?#]+\/[^/?#]+)(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (place === undefined) throw FORM.malformed('it does not name a database');
  const split = splitQuery<UrlOptions>({ place, query }, ['maxWaiters', 'collection']);
  const { collection = 'holdfast', ...options } = split.options;
  const mongodb = await import('mongodb').catch(() => undefined);
  if (!mongodb) {
    throw new UnsupportedError('store', 'A MongoDB URL needs a client: run `npm install mongodb`.');
  }
  const client = FORM.reading(() => new mongodb.MongoClient(`${scheme}:${split.url}`));
  return { client, collection, options };
}
