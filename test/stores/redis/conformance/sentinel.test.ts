import { Redis } from 'ioredis';
import { OF_CLIENT_UNLESS_WHOLE } from '../../../methods/conformance/of-client.ts';
import { startSentinels } from '../../../servers/topologies.ts';
import { type Forgetful, redisSuite, restartEmpty } from './suite.ts';

/** A primary that is back before it is missed: its replicas forget as well. */
async function start(): Promise<Forgetful> {
  const servers = await startSentinels({ downAfterMs: 20_000 });
  const sentinels = servers.sentinels.map(({ host, port }) => ({ host, port }));
  const client = new Redis({ name: servers.name, sentinels });
  // Its server crashes.
  client.on('error', () => {});
  return {
    ...{ client, servers: [servers.primary], forget: restartEmpty },
    async close() {
      client.disconnect();
      await servers.close();
    },
  };
}

redisSuite({ ...(await start()), another: start }, OF_CLIENT_UNLESS_WHOLE);
