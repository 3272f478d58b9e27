import { dirname } from 'node:path';

/** What may notice a fault, from the cheapest to the dearest. */
export const KINDS = ['units', 'conformance', 'simulation', 'servers', 'processes'] as const;
export type Kind = (typeof KINDS)[number];

/** Only for what nothing cheaper notices. */
export const DEAR: readonly Kind[] = ['servers', 'processes'];

/** What failed first: a test, a whole file that has none, or a seed of the simulation. */
export interface Notice {
  readonly file?: string;
  readonly test?: string;
  readonly seed?: number;
  /** It failed because it hung. */
  readonly hung?: true;
}

/** The core is tried on stores that cost no real time. */
const MEMORY = /^test\/methods\/conformance\/(memory|chaos)/;

/** Services of documents: one suite for all. */
const SERVICES = ['consul', 'dynamodb', 'hazelcast', 'mongodb', 'objects', 'table'].map(
  (name) => `stores/${name}`,
);

/** Layouts of other libraries: quicker than those libraries are programs of the tests' own. */
const DIALECTS = ['rows', 'shedlock', 'spring'].map((name) => `interop/${name}`);
const PLAYED = /^test\/(interop\/rows\/|stores\/redis\/published\.test)/;
const REDISSON = 'interop/redisson';

/** Rooms that have tests of their own. */
const ROOMS = [
  ...SERVICES,
  ...DIALECTS,
  REDISSON,
  ...['sqlite', 'redis', 'postgres', 'mysql', 'etcd', 'zookeeper', 'consensus'].map(
    (name) => `stores/${name}`,
  ),
  ...['stores/document', 'stores/kubernetes', 'layers/quorum', 'fences', 'database-locks'],
  ...['integrations/nestjs', 'integrations/opentelemetry', 'operators/deadlocks', 'dashboard'],
  'cli',
];
const REST = 'the rest';

/** On a shelf of leases: what needs an API server may run before that is built. */
const LEASES = 'test/stores/kubernetes/units/';

/** Of what has none: the core and all around it. */
const UNITS = [
  ...['base', 'queue', 'store-calls', 'core', 'primitives', 'jobs', 'integrations/decorator'],
  ...['stores', 'stores/memory'],
];

/** Of what speaks with a server, without one. */
const UNITS_OF_CLIENTS = /^test\/clients\/((redis|postgres|mysql|sql)\/|.*\/units\/)?[^/]+$/;

/** Those that need neither the pages nor a compiler. */
const DASHBOARD = /^test\/dashboard\/(ends|history|requests|stream|waits)\.test/;

/** As an application. */
const NESTJS = 'test/integrations/nestjs/nestjs.test.ts';

/** What servers say of themselves, which the command line alone asks. */
const FACTS = /^src\/(clients\/facts\/|stores\/\w+\/facts\.ts$)/;

/** The room of a source that has tests of its own. */
export function partOf(source: string): string {
  if (FACTS.test(source)) return 'cli';
  // A client is tried with the store that speaks through it, and what stores share with one.
  const path = source
    .replace('src/stores/sql/', 'src/stores/postgres/')
    .replace('src/clients/sql', 'src/database-locks')
    .replace('src/clients/', 'src/stores/');
  return ROOMS.find((room) => path.startsWith(`src/${room}/`)) ?? REST;
}

/** What takes another course in every run does not notice the same fault each time. */
const BY_CHANCE =
  /^test\/(.*\/sqlite\/differential|.*\/sqlite-two|.*\/redis\/(histories|.*(cluster|sentinel)))/;
/** Random crowds that find a deadlock that is none only now and then. */
const CROWDS = /^test\/operators\/deadlocks\/crowds/;

/** Quicker than the suite. */
const ETCD =
  /^test\/(stores\/etcd\/(differential|expiry|following|interop|keep)|clients\/etcd\/resets)/;
/** What only candidates and the suite have. */
const ALL_OF_ETCD = /^test\/stores\/etcd\/(elections|conformance\/etcd)\.test/;

/** Quicker than what has all cases. */
const ZOOKEEPER = /^test\/stores\/zookeeper\/(store|keep|lists|recipes)\.test/;
const ALL_OF_ZOOKEEPER =
  /^test\/stores\/zookeeper\/(differential|elections|expiry|overflow|conformance\/zookeeper)/;

/** What a store that fails for a while does to candidates and observers. */
const CANDIDATE = 'src/jobs/election/candidate.ts';
const ELECTIONS = 'test/stores/zookeeper/elections.test.ts';

/** Who may not listen for what wakes waiters. */
const WAKES = ['src/stores/wakes.ts', 'src/stores/listening.ts'];
const LISTENERS = 'test/stores/redis/permissions.test.ts';

/** Fences that are no transactions. */
const FENCES = /^test\/stores\/(etcd|zookeeper)\/fence(-faults)?\.test/;
const REDIS_FENCE = /^src\/fences\/redis\//;
const REDIS_FENCES = /^test\/stores\/redis\/fence(-faults)?\.test/;

/** What tests are run on. */
const PROGRAMS = 'test/servers/programs.ts';
const TAKEN_PROGRAMS = 'test/servers/programs.test.ts';

/** The suite, on one server with one client: the others differ in what is before the scripts. */
const REDIS = /^test\/stores\/redis\/conformance\/(ioredis|plain)\.test\.ts$/;

/** Those that run the sources: what runs the package as it is built does not have the fault. */
const PROCESSES = /^test\/(methods\/processes\/(?!nestjs)|stores\/sqlite\/processes)/;

/** What kind of run a test file is for a fault in that source; undefined if it cannot notice it. */
export function kindOf(file: string, source: string): Kind | undefined {
  const part = partOf(source);
  if (source === PROGRAMS) return file === TAKEN_PROGRAMS ? 'servers' : undefined;
  if (!file.endsWith('.test.ts') || BY_CHANCE.test(file) || CROWDS.test(file)) return undefined;
  if (UNITS_OF_CLIENTS.test(file)) return source.startsWith('src/clients/') ? 'units' : undefined;
  if (part === 'stores/redis') return ofRedis(file);
  if (part === 'stores/postgres' || part === 'stores/mysql') return ofSql(file, part);
  if (part === 'stores/document') return ofDocuments(file);
  if (SERVICES.includes(part)) {
    return file === `test/${part}/documents.test.ts` ? 'servers' : undefined;
  }
  if (part === 'stores/kubernetes') return file.startsWith(LEASES) ? 'units' : undefined;
  if (part === REDISSON) return file.startsWith(`test/${REDISSON}/`) ? 'servers' : undefined;
  if (DIALECTS.includes(part)) return PLAYED.test(file) ? 'servers' : undefined;
  if (part === 'stores/etcd') return ofEtcd(file);
  if (part === 'stores/zookeeper') return ofZookeeper(file);
  if (part === 'stores/consensus') return ofConsensus(file);
  if (part === 'layers/quorum') return ofQuorum(file);
  if (part === 'dashboard') return DASHBOARD.test(file) ? 'units' : undefined;
  if (part === 'cli') return file.startsWith('test/cli/units/') ? 'units' : undefined;
  if (part === 'integrations/nestjs') return file === NESTJS ? 'units' : undefined;
  if (part === 'database-locks') return ofTransactions(file);
  if (REDIS_FENCE.test(source)) return REDIS_FENCES.test(file) ? 'servers' : undefined;
  if (part === 'fences' && (ofTransactions(file) || FENCES.test(file))) return 'servers';
  if (WAKES.includes(source) && file === LISTENERS) return 'servers';
  if (source === CANDIDATE && file === ELECTIONS) return 'servers';
  if (PROCESSES.test(file)) return 'processes';
  if (
    part === REST
      ? UNITS.includes(dirname(file).slice('test/'.length))
      : file.startsWith(`test/${part}/`)
  )
    return 'units';
  const stores = part === 'stores/sqlite' ? /^test\/methods\/conformance\/sqlite/ : MEMORY;
  return part !== 'fences' && stores.test(file) ? 'conformance' : undefined;
}

function ofRedis(file: string): Kind | undefined {
  if (REDIS.test(file)) return 'conformance';
  return /^test\/stores\/redis\/[^/]+$/.test(file) ? 'servers' : undefined;
}

/** What sends the statements itself is quicker than the suite, and than hundreds of worlds. */
function ofSql(file: string, part: string): Kind | undefined {
  if (file.startsWith('test/stores/sql/')) return 'units';
  const about =
    'schema|durability|restores|given|source|wake-session|permissions|opening|migration';
  if (new RegExp(`^test/${part}/(${about})`).test(file)) return 'conformance';
  const all = 'differential|faults-sessions|conformance/(pg|mariadb-mariadb)';
  return new RegExp(`^test/${part}/(${all})\\.test`).test(file) ? 'servers' : undefined;
}

function ofDocuments(file: string): Kind | undefined {
  if (file === 'test/stores/document/protocol.test.ts') return 'units';
  const suites = /^test\/(stores\/document\/two-clocks|methods\/conformance\/document)/;
  return suites.test(file) ? 'conformance' : undefined;
}

function ofEtcd(file: string): Kind | undefined {
  if (ETCD.test(file)) return 'conformance';
  return ALL_OF_ETCD.test(file) ? 'servers' : undefined;
}

function ofZookeeper(file: string): Kind | undefined {
  if (/^test\/(stores|clients)\/zookeeper\/units\//.test(file)) return 'units';
  if (ZOOKEEPER.test(file)) return 'conformance';
  return ALL_OF_ZOOKEEPER.test(file) ? 'servers' : undefined;
}

/** What etcd and ZooKeeper share. */
function ofConsensus(file: string): Kind | undefined {
  if (file.startsWith('test/stores/consensus/')) return 'units';
  return ofEtcd(file) ?? ofZookeeper(file);
}

/** What goes wrong between transactions. */
function ofTransactions(file: string): Kind | undefined {
  const between = /^test\/database-locks\/(contention|fences|snapshots|mysql)\.test/;
  return between.test(file) ? 'servers' : undefined;
}

/** Its simulation is quick; models and servers are not about this. */
function ofQuorum(file: string): Kind | undefined {
  if (/^test\/layers\/quorum\/(quorum|simulation)/.test(file)) return 'units';
  return /^test\/methods\/conformance\/quorum/.test(file) ? 'conformance' : undefined;
}

const REAL = [
  ...[...SERVICES, ...DIALECTS].map((name) => `${name}/`),
  ...['sqlite', 'redis', 'sql', 'postgres', 'mysql', 'zookeeper', 'consensus', 'document'].map(
    (name) => `stores/${name}/`,
  ),
  ...[
    'cli/',
    'clients/',
    'database-locks/',
    'layers/',
    'fences/',
    'integrations/',
    'primitives/close-on-signal',
  ],
];

/** The simulation knows neither servers nor files nor fences. */
export function isSimulated(source: string): boolean {
  return !REAL.some((start) => source.startsWith(`src/${start}`));
}
