import { type Fault, inTest } from '../fault.ts';

const record = { file: 'src/stores/redis/lua/record.lua' };
const queue = { file: 'src/stores/redis/lua/queue.lua' };
const claim = { file: 'src/stores/redis/lua/claim.lua' };
const renew = { file: 'src/stores/redis/lua/renew.lua' };
const release = { file: 'src/stores/redis/lua/release.lua' };

const FAULTS_SERVER = 'test/stores/redis/faults-server.test.ts';
const FAULTS_CLOCK = 'test/stores/redis/faults-clock.test.ts';
const SET_BACK = [
  "a server's clock",
  'jumps back: leases go on, tokens grow, and the process is warned',
];
const COMMANDS = 'test/stores/redis/commands.test.ts';
const IOREDIS = 'test/stores/redis/conformance/ioredis.test.ts';
const FAULTS_CONNECTIONS = 'test/stores/redis/faults-connections.test.ts';
const QUARANTINE = 'test/stores/redis/quarantine.test.ts';

/** A queue in Lua, and a loss of data that nobody notices. */
export const REDIS_FAULTS: readonly Fault[] = [
  {
    ...record,
    name: 'Redis: there is no quarantine',
    find: 'openAt, write = since + waitFor(maxTtl), true',
    replace: 'openAt, write = 0, true',
    why: 'after a crash two hold the same lock',
    by: inTest(FAULTS_SERVER, 'a server', 'is flushed: the holder is told, then others get on'),
  },
  {
    ...record,
    name: "Redis: another server's record is as good as its own",
    find: 'same = at and not swapped and sub(record, 2, 41) == data',
    replace: 'same = true',
    why: 'a replica that lagged behind is promoted, and two hold the same lock',
    by: inTest(
      'test/stores/redis/faults-replicas.test.ts',
      'a primary and its replicas',
      'a lock that no replica has: the next primary makes all wait',
    ),
  },
  {
    ...record,
    name: 'Redis: a flush is not looked for',
    find: "' flushall flushdb ",
    replace: "' flushdb ",
    why: 'after a flush two hold the same lock',
    by: inTest(COMMANDS, 'a server without a record', 'was flushed'),
  },
  {
    ...record,
    name: 'Redis: numbers look at the clock alone',
    find: '  if number <= last then number = last + 1 end\n',
    replace: '',
    why: 'two holders have the same token',
    by: inTest(FAULTS_CLOCK, ...SET_BACK),
  },
  {
    ...record,
    name: 'Redis: numbers forget those of idle resources',
    find: '  if number <= highest then number = highest + 1 end\n',
    replace: '',
    why: 'a clock that is set back makes tokens go back, and fences refuse the new holder',
    by: inTest(FAULTS_CLOCK, ...SET_BACK),
  },
  {
    ...queue,
    name: 'Redis: a dead holder holds on',
    find: 'if head.count > 0 and now >= head.death then',
    replace: 'if head.count > 0 and now >= head.death + 1e12 then',
    why: 'a process that died keeps its lock for ever',
    by: inTest(IOREDIS, 'try: a try after the death of the holder is held'),
  },
  {
    ...queue,
    name: 'Redis: what is in use is not counted',
    find: 'head.used + claim.permits <= math.min',
    replace: 'claim.permits <= math.min',
    why: 'everybody holds',
    by: inTest(IOREDIS, 'try: of tries that arrive together one is held'),
  },
  {
    ...queue,
    name: 'Redis: what waits is admitted in the quarantine',
    find: 'return (over or claim.trusts) and head.used',
    replace: 'return head.used',
    why: 'after a crash two hold the same lock',
    by: inTest(
      FAULTS_SERVER,
      'a server',
      'dies and comes back empty: the holder is told, then others get on',
    ),
  },
  {
    ...claim,
    name: 'Redis: the quick claim writes over what is there',
    find: "'NX', 'PX', keepFor",
    replace: "'PX', keepFor",
    why: 'a waiter takes the lock away from its holder, and the queue with it',
    by: inTest(IOREDIS, 'claim: the second claim waits'),
  },
  {
    ...claim,
    name: 'Redis: tombstones are not looked at',
    find: 'if late then\n',
    replace: 'if false then\n',
    why: 'a late copy of a claim takes the lock for nobody',
    by: inTest(IOREDIS, 'release: a claim that arrives after its release is refused for good'),
  },
  {
    ...renew,
    name: 'Redis: the quick heartbeat revives the dead',
    find: 'tonumber(sub(text, 49, 61)) > now then',
    replace: 'tonumber(sub(text, 49, 61)) > 0 then',
    why: 'a process that was told that its lease is lost has it again',
    by: inTest(FAULTS_CONNECTIONS, 'what comes late', 'a heartbeat of the dead revives nothing'),
  },
  {
    ...renew,
    name: 'Redis: the quick heartbeat does not look whose claim it is',
    find: 'if text and sub(text, 1, 32) == sub(asked, 1, 32) and tonumber',
    replace: 'if text and tonumber',
    why: 'whoever lost the lock believes that it holds that of another',
    by: inTest(IOREDIS, 'try: a refused try leaves nothing behind, and may be repeated'),
  },
  {
    ...renew,
    name: 'Redis: heartbeats fail when memory is full',
    find: '#!lua flags=allow-oom\n',
    replace: '#!lua\n',
    why: 'all leases are lost because some other program fills the server',
    by: inTest(
      'test/stores/redis/faults-hazards.test.ts',
      'memory is full',
      'heartbeats and releases work, new claims fail',
    ),
  },
  {
    ...release,
    name: 'Redis: the quick release does not look whose claim it is',
    find: 'if text and sub(text, 1, 32) == sub(asked, 1, 32) and sub',
    replace: 'if text and sub',
    why: 'whoever comes late takes the lock away from its new holder',
    by: inTest(IOREDIS, 'release: releasing by another id frees nothing'),
  },
  {
    ...release,
    name: 'Redis: a release leaves no tombstone',
    find: "    if not claim or unanswered then bury(q, id, ttl, 'unknown') end\n",
    replace: '',
    why: 'a late copy of a claim takes the lock for nobody',
    by: inTest(IOREDIS, 'release: a claim that arrives after its release is refused for good'),
  },
  {
    file: 'src/stores/redis/lua/hand-off.lua',
    name: 'Redis: the common way out does not look who holds',
    find: 'if head.only ~= id or not',
    replace: 'if not',
    why: 'a waiter that gives up takes the lock away from its holder',
    by: inTest(IOREDIS, 'release: a waiter that leaves does not disturb the others'),
  },
  {
    file: 'src/stores/wakes.ts',
    name: 'who is known to hold believes any message',
    find: "if (typeof known === 'bigint') return hint.token === known;",
    replace: "if (typeof known === 'bigint') return true;",
    why: 'after a reply that came too late, a message of anybody sets the token of a lease',
    by: inTest(
      'test/stores/wakes.test.ts',
      'a message with another number only makes a holder ask',
    ),
  },
  {
    file: 'src/clients/silence.ts',
    name: 'Redis: a dead connection is kept',
    find: 'else this.#tooLong();',
    replace: '',
    why: 'every lease of a process is lost, until the kernel gives the connection up',
    by: inTest(
      FAULTS_CONNECTIONS,
      'ioredis: a holder',
      'whose connections are half-open makes new ones in time',
    ),
  },
  {
    file: 'src/stores/redis/script-runner.ts',
    name: 'Redis: nobody looks how many replicas have it',
    find: "if (typeof reached === 'number' && reached >= replicas)",
    replace: "if (typeof reached === 'number')",
    why: 'what was promised to be on replicas is lost with the primary',
    by: inTest(
      'test/stores/redis/replicas.test.ts',
      'nothing is granted while too few follow, and everything goes on when they do',
    ),
  },
  {
    file: 'src/stores/redis/lua/keep.lua',
    name: 'Redis: who held alone and died still keeps something',
    find: "local holds = claim and sub(status(q, claim), 1, 1) == 'h'",
    replace: 'local holds = true',
    why: 'an attempt that lost its lease is recorded as a success, beside the next one',
    by: inTest(
      COMMANDS,
      'what is kept of work that is done',
      'is nothing of who died alone, though its key is still there',
    ),
  },
  {
    file: 'src/stores/redis/lua/plain.lua',
    name: 'Redis: a plain lock is granted in the quarantine',
    find: '  if open then\n    local value',
    replace: '  if true then\n    local value',
    why: 'after a crash two hold the same lock',
    by: inTest(
      'test/stores/redis/conformance/plain.test.ts',
      'data loss: no claim is admitted, and waiters are told why and for how long',
    ),
  },
  {
    ...record,
    name: 'Redis: a process that was started again takes the data over',
    find: 'and run == ran and following == followed',
    replace: 'and following == followed',
    why: 'a server that comes back with old data grants what others hold',
    by: inTest(QUARANTINE, 'a server', 'that comes back with all its data'),
  },
  {
    ...record,
    name: 'Redis: a time as a replica leaves no trace',
    find: 'and following == followed\n',
    replace: '\n',
    why: 'a primary grants what another granted while it was away',
    by: inTest(
      QUARANTINE,
      'a server',
      'a time as a replica, and a backup, which forgets the second id: nothing is granted',
    ),
  },
  {
    ...record,
    name: 'Redis: a slot that came without its data was never used',
    find: "or sub(verb, 1, 8) == 'cluster|' and not",
    replace: "or sub(verb, 1, 8) == 'others' and not",
    why: 'after the repair of a cluster two hold the same lock',
    by: inTest(
      'test/stores/redis/quarantine-slots.test.ts',
      'a cluster',
      'a slot is given to a server that has nothing of it',
    ),
  },
  {
    ...record,
    name: 'Redis: data of another process are as good as none',
    find: "(alone or many) and 'n' or 'p'",
    replace: "'n'",
    why: 'after a planned fail-over two hold the same lock, until Sentinel stops the old primary',
    by: inTest(
      QUARANTINE,
      'how long nothing is granted',
      'after a promotion: 30 s, and no further loss makes it shorter',
    ),
  },
  {
    file: 'src/stores/redis/spelling.ts',
    name: 'Redis: that other programs have other keys is looked at once',
    find: 'if (age < OLD_MS) return undefined;',
    replace: 'if (age < 1e9) return undefined;',
    why: 'after a flush, programs with and without a hash tag hold the same lock',
    by: inTest(
      'test/stores/redis/keys.test.ts',
      'programs with different keys',
      'in a cluster that is flushed: they still refuse each other',
    ),
  },
  {
    ...record,
    name: 'Redis: whoever trusts ends the wait of all',
    find: 'openAt, write = since + waitFor(maxTtl), true',
    replace: 'openAt, write = trusts and 0 or since + waitFor(maxTtl), true',
    why: 'a cache on the same server makes two hold the same lock',
    by: inTest(IOREDIS, 'data loss: a claim that trusts is admitted at once, and no other with it'),
  },
  {
    file: 'src/clients/redis/failovers.ts',
    name: 'Redis: what Sentinels say of a fail-over is not heard',
    find: 'if (name !== this.#name) return;',
    replace: 'return;',
    why: 'the old primary grants for ten seconds beside the new one',
    by: inTest(
      'test/stores/redis/clients-sentinel.test.ts',
      "'ioredis 6': a fail-over in good order leaves nobody behind",
    ),
  },
];
