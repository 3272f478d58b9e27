/** Memory and documents: no server counts for most of them what this process asks. */
import { subscribe } from 'node:diagnostics_channel';
import { MongoClient } from 'mongodb';
import type { Observer, Place, Watched } from '../measuring/subject.ts';
import { calls } from './ours.ts';
import { postgres } from './postgres.ts';

let sent = 0;
subscribe('http.client.request.start', () => {
  sent++;
});

/** Node tells of each request that a client of HTTP sends. */
function byHttp(name: string): Watched {
  return { name, asks: 'requests', observe: () => ({ work: async () => ({ requests: sent }) }) };
}

export const DOCUMENTS: Readonly<Record<string, Watched>> = {
  memory: {
    ...{ name: 'Memory', asks: 'store calls' },
    observe: () => ({ work: async () => ({ 'store calls': calls() }) }),
  },
  'table+postgres': {
    ...{ name: 'Table in PostgreSQL', asks: postgres.asks },
    observe: ({ url, pids }) => postgres.observe({ url: url.replace('table+', ''), pids }),
  },
  mongodb: { name: 'MongoDB', asks: 'requests', observe: observeMongodb },
  consul: byHttp('Consul'),
  dynamodb: byHttp('DynamoDB'),
  s3: byHttp('S3'),
};

/** What locks ask, and no client asks otherwise. */
const COMMANDS = ['find', 'findAndModify', 'insert', 'update', 'delete', 'aggregate', 'getMore'];

async function observeMongodb({ url }: Place): Promise<Observer> {
  const client = new MongoClient(url);
  // A database cannot be watched before it is there.
  await client.db().createCollection('holdfast');
  const count = async (): Promise<number> => {
    const { metrics } = await client.db('admin').command({ serverStatus: 1 });
    return COMMANDS.reduce((sum, name) => sum + (metrics.commands[name]?.total ?? 0), 0);
  };
  return { work: async () => ({ requests: await count() }), close: () => client.close() };
}
