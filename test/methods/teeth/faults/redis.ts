import type { Fault } from '../fault.ts';

const record = { file: 'src/stores/redis/lua/record.lua' };
const queue = { file: 'src/stores/redis/lua/queue.lua' };
const claim = { file: 'src/stores/redis/lua/claim.lua' };
const join = { file: 'src/stores/redis/lua/join.lua' };
const handOff = { file: 'src/stores/redis/lua/hand-off.lua' };
const renew = { file: 'src/stores/redis/lua/renew.lua' };
const release = { file: 'src/stores/redis/lua/release.lua' };
const keep = { file: 'src/stores/redis/lua/keep.lua' };
const kept = { file: 'src/stores/redis/lua/kept.lua' };
const plain = { file: 'src/stores/redis/lua/plain.lua' };
const places = { file: 'src/stores/redis/places.ts' };
const store = { file: 'src/stores/redis/redis-store.ts' };
const change = { file: 'src/stores/redis/lua/change.lua' };
const functions = { file: 'src/stores/redis/lua/functions.lua' };
const clusterLink = { file: 'src/clients/redis/cluster/cluster-link.ts' };
const silence = { file: 'src/clients/silence.ts' };
const hazards = { file: 'src/stores/redis/hazards.ts' };
const wakes = { file: 'src/stores/wakes.ts' };
const runner = { file: 'src/stores/redis/script-runner.ts' };
const clockWatch = { file: 'src/stores/redis/clock-watch.ts' };

/** A store that breaks the contract: the one on a Redis server. */
export const REDIS_FAULTS: readonly Fault[] = [
  {
    ...wakes,
    name: 'Redis: who may not listen tries for each claim',
    find: 'this.#listening ??= listening(',
    replace: 'this.#listening = listening(',
    why: 'each acquisition costs a connection and the time to make it',
  },
  {
    ...wakes,
    name: 'Redis: who may not listen has an address all the same',
    find: 'this.#unwoken ? undefined : this.#byId.get(id)?.tag',
    replace: 'this.#byId.get(id)?.tag',
    why: 'whoever would have to write to it is refused',
  },
  {
    file: 'src/stores/listening.ts',
    name: 'Redis: who may not listen is not told',
    find: 'if ((lasting || failures > 0) && terms.wanted()) (terms.cannot ?? warn)(error);',
    replace: '',
    why: 'waiters are slow, and nobody knows why',
  },
  {
    ...record,
    name: 'Redis: there is no quarantine',
    find: 'openAt, write = since + maxTtl, true',
    replace: 'openAt, write = 0, true',
    why: 'after a crash two hold the same lock',
  },
  {
    ...record,
    name: "Redis: another server's record is as good as its own",
    find: 'same = at and not swapped and sub(record, 2, 41) == data',
    replace: 'same = true',
    why: 'a replica that lagged behind is promoted, and two hold the same lock',
  },
  {
    ...record,
    name: 'Redis: a flush is not looked for',
    find: "' flushall flushdb ",
    replace: "' flushdb ",
    why: 'after a flush two hold the same lock',
  },
  {
    ...functions,
    name: 'Redis: the record is never written',
    find: '  if write then\n',
    replace: '  if false then\n',
    why: 'nobody is ever granted anything on a server that was just started',
  },
  {
    ...record,
    name: 'Redis: numbers look at the clock alone',
    find: '  if number <= last then number = last + 1 end\n',
    replace: '',
    why: 'two holders have the same token',
  },
  {
    ...record,
    name: 'Redis: numbers forget those of idle resources',
    find: '  if number <= highest then number = highest + 1 end\n',
    replace: '',
    why: 'a clock that is set back makes tokens go back, and fences refuse the new holder',
  },
  {
    ...queue,
    name: 'Redis: nobody is told of an admission',
    find: '    queue.first = queue.first + 1\n    tell(q, claim)\n',
    replace: '    queue.first = queue.first + 1\n',
    why: 'a hand-off takes a heartbeat',
  },
  {
    ...queue,
    name: 'Redis: the first waiter is not told that it is the first',
    find: '    queue.told, q.changed = claim.place, true\n    tell(q, claim)\n',
    replace: '    queue.told, q.changed = claim.place, true\n',
    why: 'a dead holder delays it for longer than its TTL',
  },
  {
    ...queue,
    name: 'Redis: a dead holder holds on',
    find: 'if queue.count > 0 and now >= queue.death then',
    replace: 'if queue.count > 0 and now >= queue.death + 1e12 then',
    why: 'a process that died keeps its lock for ever',
  },
  {
    ...queue,
    name: 'Redis: a dead first waiter is admitted',
    find: 'elseif claim and claim.expires > now then\n      return claim',
    replace: 'elseif claim then\n      return claim',
    why: 'the lock is granted to nobody, and all wait for one more TTL',
  },
  {
    ...queue,
    name: 'Redis: what is in use is not counted',
    find: 'queue.used + claim.permits <= math.min',
    replace: 'claim.permits <= math.min',
    why: 'everybody holds',
  },
  {
    ...queue,
    name: 'Redis: what waits is admitted in the quarantine',
    find: 'return (over or claim.trusts) and queue.used',
    replace: 'return queue.used',
    why: 'after a crash two hold the same lock',
  },
  {
    ...functions,
    name: 'Redis: a claim that errs fails the whole batch',
    find: 'local ok, result = pcall(step, ...)',
    replace: 'local ok, result = true, step(...)',
    why: 'a key of another program stops all locks',
  },
  {
    ...functions,
    name: 'Redis: what a foreign field holds is taken for a claim',
    find: "if not ok or type(value) ~= 'table' then refuse(key) end",
    replace: '',
    why: 'a key of another program keeps a whole batch from being released',
  },
  {
    ...claim,
    name: 'Redis: the quick way into a queue errs for the whole batch',
    find: 'do answers[i] = apart(step, KEYS[i], ARGV[ARGS + i - 1]) end',
    replace: 'do answers[i] = step(KEYS[i], ARGV[ARGS + i - 1]) end',
    why: 'a key of another program stops all locks',
  },
  {
    ...claim,
    name: 'Redis: the quick claim is granted in the quarantine',
    find: '  if open then\n',
    replace: '  if true then\n',
    why: 'after a crash two hold the same lock',
  },
  {
    ...claim,
    name: 'Redis: the quick claim writes over what is there',
    find: "'NX', 'PX', keepFor",
    replace: "'PX', keepFor",
    why: 'a waiter takes the lock away from its holder, and the queue with it',
  },
  {
    ...claim,
    name: 'Redis: the quick claim gives the clock for a number',
    find: 'local number = fresh(0)',
    replace: 'local number = micros',
    why: 'a clock that is set back makes tokens go back, and fences refuse the new holder',
  },
  {
    ...claim,
    name: 'Redis: the quick claim leaves the record as it was',
    find: 'if #rest == 0 and not write then',
    replace: 'if #rest == 0 then',
    why: 'a clock that is set back gives numbers of dead holders again',
  },
  {
    ...claim,
    name: 'Redis: whoever fits passes those who wait',
    find: 'local admitted = queue.waiters == 0 and fits(q, claim)',
    replace: 'local admitted = fits(q, claim)',
    why: 'writers starve among readers',
  },
  {
    ...claim,
    name: 'Redis: tombstones are not looked at',
    find: 'if late then\n',
    replace: 'if false then\n',
    why: 'a late copy of a claim takes the lock for nobody',
  },
  {
    ...renew,
    name: 'Redis: a heartbeat revives the dead',
    find: '    local claim = live(q, id)\n',
    replace: '    local claim = find(q, id)\n',
    why: 'a process that stood still believes again, in a queue that went on without it',
  },
  {
    ...renew,
    name: 'Redis: the quick heartbeat revives the dead',
    find: 'tonumber(sub(text, 49, 61)) > now then',
    replace: 'tonumber(sub(text, 49, 61)) > 0 then',
    why: 'a process that was told that its lease is lost has it again',
  },
  {
    ...renew,
    name: 'Redis: the quick heartbeat does not look whose claim it is',
    find: 'if text and sub(text, 1, 32) == sub(asked, 1, 32) and tonumber',
    replace: 'if text and tonumber',
    why: 'whoever lost the lock believes that it holds that of another',
  },
  {
    ...renew,
    name: 'Redis: the quick heartbeat leaves the record as it was',
    find: 'if #rest == 0 and not write then',
    replace: 'if #rest == 0 then',
    why: 'a greater maxTtl of a program that only renews is not known after a loss',
  },
  {
    ...renew,
    name: 'Redis: a heartbeat renews the evicted',
    find: '      if not claim.sealed then\n',
    replace: '      if claim then\n',
    why: 'an eviction never takes effect while the holder is alive',
  },
  {
    ...renew,
    name: 'Redis: heartbeats fail when memory is full',
    find: '#!lua flags=allow-oom\n',
    replace: '#!lua\n',
    why: 'all leases are lost because some other program fills the server',
  },
  {
    ...release,
    name: 'Redis: the quick release does not look whose claim it is',
    find: 'if text and sub(text, 1, 32) == sub(asked, 1, 32) and sub',
    replace: 'if text and sub',
    why: 'whoever comes late takes the lock away from its new holder',
  },
  {
    ...release,
    name: 'Redis: a release leaves no tombstone',
    find: "    if not claim or unanswered then bury(q, id, ttl, 'unknown') end\n",
    replace: '',
    why: 'a late copy of a claim takes the lock for nobody',
  },
  {
    ...release,
    name: 'Redis: the quick release forgets its number',
    find: '    if number > newest then newest = number end\n',
    replace: '',
    why: 'a clock that is set back makes tokens go back, and fences refuse the new holder',
  },
  {
    ...join,
    name: 'Redis: the common way in does not look whether the first waiter lives',
    find: ' or now >= (queue.fore or 0) then',
    replace: ' then',
    why: 'who comes after a dead one is not told that it is the first',
  },
  {
    ...join,
    name: 'Redis: the common way in does not count those who wait',
    find: ' or waiters >= tonumber(maxWaiters)',
    replace: '',
    why: 'a queue grows without end while nobody gets on',
  },
  {
    ...handOff,
    name: 'Redis: the common way out does not look who holds',
    find: 'if queue.only ~= id or not',
    replace: 'if not',
    why: 'a waiter that gives up takes the lock away from its holder',
  },
  {
    ...handOff,
    name: 'Redis: the common way out admits the dead',
    find: 'if expires <= now or not over',
    replace: 'if not over',
    why: 'the lock is granted to nobody, and all wait for one more TTL',
  },
  {
    ...handOff,
    name: 'Redis: the common way out tells nobody',
    find: "  if letter then call('PUBLISH', prefix .. claim.address, letter) end\n",
    replace: '',
    why: 'a hand-off takes a heartbeat',
  },
  {
    ...change,
    name: 'Redis: whoever is evicted at once is not told why',
    find: "        bury(q, claim.id, claim.ttl, 'evicted', reason)\n",
    replace: '',
    why: 'a holder that was evicted takes it for a loss by accident',
  },
  {
    ...silence,
    name: 'Redis: a dead connection is kept',
    find: 'else this.#tooLong();',
    replace: '',
    why: 'every lease of a process is lost, until the kernel gives the connection up',
  },
  {
    ...runner,
    name: 'Redis: nobody looks how many replicas have it',
    find: "if (typeof reached === 'number' && reached >= replicas)",
    replace: "if (typeof reached === 'number')",
    why: 'what was promised to be on replicas is lost with the primary',
  },
  {
    ...clusterLink,
    name: 'Redis: only the first primary of a cluster is looked at',
    find: 'connection = new RedisConnection(greeted(',
    replace: 'connection = new RedisConnection(this.#connections.size > 0 ? source : greeted(',
    why: 'a store that refuses hazards is granted locks by a server that evicts them',
  },
  {
    ...hazards,
    name: 'Redis: an eviction policy is not noticed',
    find: "Number(info.get('maxmemory') ?? 0) > 0 && policy !== 'noeviction'",
    replace: "Number(info.get('maxmemory') ?? 0) < 0 && policy !== 'noeviction'",
    why: 'nobody hears that the server may throw locks away',
  },
  {
    ...hazards,
    name: 'Redis: a primary that may live on alone is not noticed',
    find: "!info.has('min_slaves_good_slaves')",
    replace: "info.has('min_slaves_good_slaves')",
    why: 'nobody hears that two servers may grant the same lock',
  },
  {
    ...clockWatch,
    name: 'Redis: a clock that jumps ahead is not noticed',
    find: 'if (sight.least > last.most + slack)',
    replace: 'if (sight.least > last.most + slack + 1e12)',
    why: 'nobody hears why two hold the same lock',
  },
  {
    ...keep,
    name: 'Redis: who held alone and died still keeps something',
    find: ' and tonumber(sub(text, 49, 61)) > now\n',
    replace: '\n',
    why: 'an attempt that lost its lease is recorded as a success, beside the next one',
  },
  {
    ...keep,
    name: 'Redis: whoever waits keeps something',
    find: "sub(status(q, claim), 1, 1) == 'h'",
    replace: 'status(q, claim)',
    why: 'work is taken for done while somebody else does it',
  },
  {
    ...keep,
    name: 'Redis: who was evicted keeps something',
    find: "sub(status(q, claim), 1, 1) == 'h'",
    replace: 'claim.admitted',
    why: 'an operator stops an attempt, and it succeeds all the same',
  },
  {
    ...kept,
    name: 'Redis: records have no end',
    find: ", 'PX', ms)",
    replace: ')',
    why: 'a key is done for ever, and memory fills up',
  },
  {
    ...plain,
    name: 'Redis: a plain lock is granted in the quarantine',
    find: '  if open then\n    local value',
    replace: '  if true then\n    local value',
    why: 'after a crash two hold the same lock',
  },
  {
    ...plain,
    name: 'Redis: a plain lock that ends later keeps something',
    find: 'own and not sealed and note',
    replace: 'own and note',
    why: 'work is recorded by a program that has given up its lock',
  },
  {
    ...places,
    name: 'Redis: in a cluster a record is in a slot of its own',
    find: 'this.beside(this.keyOf(resource))',
    replace: "''",
    why: 'nothing can be recorded on a cluster',
  },
  {
    ...store,
    name: 'Redis: a record counts before replicas have it',
    find: 'keys, args, this.#spreadOf([claim]));',
    replace: 'keys, args);',
    why: 'a fail-over makes work be done again that a replica should have known of',
  },
];
