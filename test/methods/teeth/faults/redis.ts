import { type Faults, inTest } from '../fault.ts';

const record = { file: 'src/stores/redis/lua/record.lua' };
const queue = { file: 'src/stores/redis/lua/queue.lua' };
const claim = { file: 'src/stores/redis/lua/claim.lua' };
const renew = { file: 'src/stores/redis/lua/renew.lua' };
const release = { file: 'src/stores/redis/lua/release.lua' };

const FAULTS_CLOCK = 'test/stores/redis/faults-clock.test.ts';
const SET_BACK = [
  "a server's clock",
  'jumps back: leases go on, tokens grow, and the process is warned',
];
const COMMANDS = 'test/stores/redis/commands.test.ts';
const IOREDIS = 'test/stores/redis/conformance/ioredis.test.ts';
const FAULTS_CONNECTIONS = 'test/stores/redis/faults-connections.test.ts';
const QUARANTINE = 'test/stores/redis/quarantine.test.ts';
const SERVER = ['test/stores/redis/faults-server.test.ts', 'a server'] as const;
const BACK = [QUARANTINE, 'a server'] as const;

/** A queue in Lua, and a loss of data that nobody notices. */
export const REDIS_FAULTS: Faults = {
  'Redis: there is no quarantine': {
    ...record,
    find: 'openAt, write = since + waitFor(maxTtl), true',
    replace: 'openAt, write = 0, true',
    why: 'after a crash two hold the same lock',
    by: inTest(...SERVER, 'is flushed: the holder is told, then others get on'),
  },
  "Redis: another server's record is as good as its own": {
    ...record,
    find: 'same = at and not swapped and sub(record, 2, 41) == data',
    replace: 'same = true',
    why: 'a replica that lagged behind is promoted, and two hold the same lock',
    by: inTest(
      'test/stores/redis/faults-replicas.test.ts',
      'a primary and its replicas',
      'a lock that no replica has: the next primary makes all wait',
    ),
  },
  'Redis: a flush is not looked for': {
    ...record,
    find: "' flushall flushdb ",
    replace: "' flushdb ",
    why: 'after a flush two hold the same lock',
    by: inTest(COMMANDS, 'a server without a record', 'was flushed'),
  },
  'Redis: numbers look at the clock alone': {
    ...record,
    find: '  if number <= last then number = last + 1 end\n',
    replace: '',
    why: 'two holders have the same token',
    by: inTest(FAULTS_CLOCK, ...SET_BACK),
  },
  'Redis: numbers forget those of idle resources': {
    ...record,
    find: '  if number <= highest then number = highest + 1 end\n',
    replace: '',
    why: 'a clock that is set back makes tokens go back, and fences refuse the new holder',
    by: inTest(FAULTS_CLOCK, ...SET_BACK),
  },
  'Redis: a dead holder holds on': {
    ...queue,
    find: 'if head.count > 0 and now >= head.death then',
    replace: 'if head.count > 0 and now >= head.death + 1e12 then',
    why: 'a process that died keeps its lock for ever',
    by: inTest(IOREDIS, 'try: a try after the death of the holder is held'),
  },
  'Redis: what is in use is not counted': {
    ...queue,
    find: 'head.used + claim.permits <= math.min',
    replace: 'claim.permits <= math.min',
    why: 'everybody holds',
    by: inTest(IOREDIS, 'try: of tries that arrive together one is held'),
  },
  'Redis: of several tries in one step each is written by itself': {
    ...claim,
    find: 'if together then queues[key] = q else save(q) end',
    replace: 'save(q)',
    why: 'a try that is refused keeps some of the locks',
    by: inTest(IOREDIS, 'all or none: if one is not free, none is held, and nothing stays of them'),
  },
  'Redis: what waits is admitted in the quarantine': {
    ...queue,
    find: 'return (over or claim.trusts) and head.used',
    replace: 'return head.used',
    why: 'after a crash two hold the same lock',
    by: inTest(...SERVER, 'dies and comes back empty: the holder is told, then others get on'),
  },
  'Redis: what is on its way is taken in the quarantine': {
    file: 'src/stores/redis/lua/change.lua',
    find: 'if takes and claim and not open then',
    replace: 'if false then',
    why: 'a text that was used before the crash makes a second holder',
    by: inTest(...BACK, 'that comes back with a hold on its way: nobody takes it'),
  },
  'Redis: the quick claim writes over what is there': {
    ...claim,
    find: "'NX', 'PX', keepFor",
    replace: "'PX', keepFor",
    why: 'a waiter takes the lock away from its holder, and the queue with it',
    by: inTest(IOREDIS, 'claim: the second claim waits'),
  },
  'Redis: a waiter is evicted although its turn has come': {
    file: 'src/stores/redis/lua/change.lua',
    find: "if when == 'waiting' and claim.admitted then return 0 end",
    replace: '',
    why: 'the rebuild that has just begun is aborted by one that only wants to be the next',
    by: inTest(IOREDIS, 'evict: evicted only if it waits, a holder stays'),
  },
  'Redis: tombstones are not looked at': {
    ...claim,
    find: 'if late then return late end',
    replace: '',
    why: 'a late copy of a claim takes the lock for nobody',
    by: inTest(IOREDIS, 'release: a claim that arrives after its release is refused for good'),
  },
  'Redis: the quick heartbeat revives the dead': {
    ...renew,
    find: 'tonumber(sub(text, 49, 61)) > now then',
    replace: 'tonumber(sub(text, 49, 61)) > 0 then',
    why: 'a process that was told that its lease is lost has it again',
    by: inTest(FAULTS_CONNECTIONS, 'what comes late', 'a heartbeat of the dead revives nothing'),
  },
  'Redis: the quick heartbeat does not look whose claim it is': {
    ...renew,
    find: 'if text and sub(text, 1, 32) == sub(asked, 1, 32) and tonumber',
    replace: 'if text and tonumber',
    why: 'whoever lost the lock believes that it holds that of another',
    by: inTest(IOREDIS, 'try: a refused try leaves nothing and may be repeated'),
  },
  'Redis: heartbeats fail when memory is full': {
    ...renew,
    find: '#!lua flags=allow-oom\n',
    replace: '#!lua\n',
    why: 'all leases are lost because some other program fills the server',
    by: inTest(
      'test/stores/redis/faults-hazards.test.ts',
      'memory is full: heartbeats and releases work, new claims fail',
    ),
  },
  'Redis: the quick release does not look whose claim it is': {
    ...release,
    find: 'if text and sub(text, 1, 32) == sub(asked, 1, 32) and sub',
    replace: 'if text and sub',
    why: 'whoever comes late takes the lock away from its new holder',
    by: inTest(IOREDIS, 'release: releasing by another id frees nothing'),
  },
  'Redis: a release leaves no tombstone': {
    ...release,
    find: "    if not claim or unanswered then bury(q, id, ttl, 'unknown') end\n",
    replace: '',
    why: 'a late copy of a claim takes the lock for nobody',
    by: inTest(IOREDIS, 'release: a claim that arrives after its release is refused for good'),
  },
  'Redis: the common way out does not look who holds': {
    file: 'src/stores/redis/lua/hand-off.lua',
    find: 'if head.only ~= id or not',
    replace: 'if not',
    why: 'a waiter that gives up takes the lock away from its holder',
    by: inTest(IOREDIS, 'release: a waiter that leaves does not disturb the others'),
  },
  'Redis: a writer hands over without a look at the server': {
    file: 'src/stores/redis/lua/hand-off.lua',
    find: "not proof or head.kind == 'r' or head.kind == 'w'",
    replace: 'not proof',
    why: 'after a fail-over that lost a downgrade, a writer comes in beside readers',
    by: inTest(
      COMMANDS,
      'what it costs',
      'looks at the server for a hand-off: one for a writer, who may be a reader in lost data',
    ),
  },
  'who is known to hold believes any message': {
    file: 'src/stores/wakes.ts',
    find: "if (typeof known === 'bigint') return hint.token === known;",
    replace: "if (typeof known === 'bigint') return true;",
    why: 'after a reply that came too late, a message of anybody sets the token of a lease',
    by: inTest(
      'test/stores/wakes.test.ts',
      'a message with another number only makes a holder ask',
    ),
  },
  'Redis: a dead connection is kept': {
    file: 'src/clients/silence.ts',
    find: 'else this.#tooLong();',
    replace: '',
    why: 'every lease of a process is lost, until the kernel gives the connection up',
    by: inTest(
      FAULTS_CONNECTIONS,
      'ioredis: a holder',
      'whose connections are half-open makes new ones in time',
    ),
  },
  'Redis: nobody looks how many replicas have it': {
    file: 'src/stores/redis/script-runner.ts',
    find: "if (typeof reached === 'number' && reached >= replicas)",
    replace: "if (typeof reached === 'number')",
    why: 'what was promised to be on replicas is lost with the primary',
    by: inTest(
      'test/stores/redis/replicas.test.ts',
      'nothing is granted while too few follow, and everything goes on when they do',
    ),
  },
  'Redis: who held alone and died still keeps something': {
    file: 'src/stores/redis/lua/keep.lua',
    find: "local holds = claim and sub(status(q, claim), 1, 1) == 'h'",
    replace: 'local holds = true',
    why: 'an attempt that lost its lease is recorded as a success, beside the next one',
    by: inTest(
      COMMANDS,
      'what is kept of work that is done',
      'is nothing of who died alone, though its key is still there',
    ),
  },
  'Redis: a plain lock is granted in the quarantine': {
    file: 'src/stores/redis/lua/plain.lua',
    find: '  if open then\n    local value',
    replace: '  if true then\n    local value',
    why: 'after a crash two hold the same lock',
    by: inTest(
      'test/stores/redis/conformance/plain.test.ts',
      'data loss: no claim is admitted, and waiters are told why and for how long',
    ),
  },
  'Redis: a process that was started again takes the data over': {
    ...record,
    find: 'and run == ran and following == followed',
    replace: 'and following == followed',
    why: 'a server that comes back with old data grants what others hold',
    by: inTest(...BACK, 'that comes back with all its data'),
  },
  'Redis: a time as a replica leaves no trace': {
    ...record,
    find: 'and following == followed\n',
    replace: '\n',
    why: 'a primary grants what another granted while it was away',
    by: inTest(
      ...BACK,
      'a time as a replica, and a backup, which forgets the second id: nothing is granted',
    ),
  },
  'Redis: a slot that came without its data was never used': {
    ...record,
    find: "or sub(verb, 1, 8) == 'cluster|' and not",
    replace: "or sub(verb, 1, 8) == 'others' and not",
    why: 'after the repair of a cluster two hold the same lock',
    by: inTest(
      'test/stores/redis/quarantine-slots.test.ts',
      'a cluster',
      'a slot is given to a server that has nothing of it',
    ),
  },
  'Redis: data of another process are as good as none': {
    ...record,
    find: "(alone or many) and 'n' or 'p'",
    replace: "'n'",
    why: 'after a planned fail-over two hold the same lock, until Sentinel stops the old primary',
    by: inTest(
      QUARANTINE,
      'how long nothing is granted',
      'after a promotion: 30 s, and no further loss makes it shorter',
    ),
  },
  'Redis: that other programs have other keys is looked at once': {
    file: 'src/stores/redis/spelling.ts',
    find: 'if (age < OLD_MS) return undefined;',
    replace: 'if (age < 1e9) return undefined;',
    why: 'after a flush, programs with and without a hash tag hold the same lock',
    by: inTest(
      'test/stores/redis/keys.test.ts',
      'programs with different keys',
      'in a cluster that is flushed: they still refuse each other',
    ),
  },
  'Redis: whoever trusts ends the wait of all': {
    ...record,
    find: 'openAt, write = since + waitFor(maxTtl), true',
    replace: 'openAt, write = trusts and 0 or since + waitFor(maxTtl), true',
    why: 'a cache on the same server makes two hold the same lock',
    by: inTest(IOREDIS, 'data loss: a claim that trusts is admitted at once, and no other with it'),
  },
  'Redis: what Sentinels say of a fail-over is not heard': {
    file: 'src/clients/redis/failovers.ts',
    find: 'if (name !== this.#name) return;',
    replace: 'return;',
    why: 'the old primary grants for ten seconds beside the new one',
    by: inTest(
      'test/stores/redis/clients-sentinel.test.ts',
      "'ioredis 6': a fail-over in good order leaves nobody behind",
    ),
  },
};
