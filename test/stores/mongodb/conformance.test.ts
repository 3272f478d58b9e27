import { mongodbStore } from 'holdfast/mongodb';
import { MongoClient } from 'mongodb';
import { afterAll } from 'vitest';
import { MongodbServer } from '../../servers/mongodb-server.ts';
import { missing } from '../../servers/programs.ts';
import { documentConformance } from '../document/conformance.ts';

const clients: MongoClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

/** Each program has a client of its own; here two share one, or there would be thousands. */
function collectionAt(url: string) {
  const client = clients.length < 16 ? new MongoClient(url) : (clients.shift() as MongoClient);
  clients.push(client);
  return client.db('test').collection('locks');
}

documentConformance({
  why: await missing('mongodb'),
  start: () => MongodbServer.start(),
  store: ({ url }, options) => mongodbStore(collectionAt(url), options),
  traits: mongodbStore(new MongoClient('mongodb://unused').db().collection('unused')).traits,
});
