import { Redis } from 'ioredis';
import { startSentinels } from '../../servers/topologies.ts';
import { suite } from './suite.ts';

const servers = await startSentinels({ downAfterMs: 20_000 });
const { name, sentinels } = servers;
const client = new Redis({ name, sentinels: sentinels.map(({ host, port }) => ({ host, port })) });

suite({
  client,
  async close() {
    client.disconnect();
    await servers.close();
  },
});
