/**
 * What wake-ups cost in a cluster, whose nodes pass each published message on to all others, so
 * that one subscription hears of every slot. Beside it, the same crowd on one server.
 */
import { type CrowdRound, columns } from '../contended/crowd.ts';
import { median, report } from '../result.ts';
import { type Counted, crewOf } from './contest.ts';
import { clusterUrls, field, observe, type Server, serverUrl, type Work } from './server.ts';

const FIGURE = 'redis/cluster';
const ROUNDS = 3;
const CROWD = { tasks: 20, holdMs: 1, forMs: 1_000 };
const PROCESSES = 2;

const urls = clusterUrls();
const nodes = urls.map((url) => observe(url));
const one = observe(serverUrl());
const places = [
  { contender: 'holdfast, fair', url: serverUrl(), server: one },
  { contender: 'holdfast, fair, in a cluster', url: urls.join(), server: together(nodes) },
].map((place) => ({
  ...place,
  crew: crewOf(place.server),
  rounds: [] as CrowdRound<Counted>[],
}));

const bus: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  for (const { contender, url, crew, rounds } of places) {
    const before = await busMessages();
    const done = await crew.round({ contender, url, ...CROWD }, PROCESSES);
    rounds.push(done);
    if (url !== serverUrl()) bus.push(((await busMessages()) - before) / done.acquisitions);
  }
}
for (const { contender, url, crew, rounds } of places) {
  const measured = columns(rounds);
  const messages = url === serverUrl() ? 0 : median(bus);
  report({
    figure: FIGURE,
    what: `${contender}, ${CROWD.tasks} waiters`,
    measured: { ...measured, 'messages between nodes': messages },
  });
  crew.end();
}
for (const { client } of [one, ...nodes]) client.disconnect();

/** The work of all nodes. */
function together(all: readonly Server[]): Server {
  const [first] = all;
  if (!first) throw new Error('The cluster has no nodes.');
  return {
    client: first.client,
    async work(sets) {
      const each = await Promise.all(all.map((node) => node.work(sets)));
      const sum = (value: (work: Work) => number): number =>
        each.reduce((total, work) => total + value(work), 0);
      return {
        sent: sum((work) => work.sent),
        ran: sum((work) => work.ran),
        cpuMicros: sum((work) => work.cpuMicros),
      };
    },
  };
}

/** Published messages that nodes have sent each other so far. */
async function busMessages(): Promise<number> {
  const each = await Promise.all(
    nodes.map(async ({ client }) => String(await client.call('CLUSTER', 'INFO'))),
  );
  // A node that has sent none does not mention them.
  return each.reduce((sum, info) => {
    const sent = field(info, 'cluster_stats_messages_publish_sent');
    return sum + (Number.isNaN(sent) ? 0 : sent);
  }, 0);
}
