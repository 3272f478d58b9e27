import type { Fault } from '../fault.ts';

const record = { file: 'src/stores/redis/lua/record.lua' };
const queue = { file: 'src/stores/redis/lua/queue.lua' };
const clock = { file: 'src/stores/redis/lua/clock.lua' };
const hazards = { file: 'src/stores/redis/hazards.ts' };

/** A loss of data in Redis that nobody notices, and waits that end too early. */
export const REDIS_LOSS_FAULTS: readonly Fault[] = [
  {
    ...record,
    name: 'Redis: a process that was started again takes the data over',
    find: 'and run == ran and following == followed',
    replace: 'and following == followed',
    why: 'a server that comes back with old data grants what others hold',
  },
  {
    ...record,
    name: 'Redis: a time as a replica leaves no trace',
    find: 'and following == followed\n',
    replace: '\n',
    why: 'a primary grants what another granted while it was away',
  },
  {
    ...record,
    name: 'Redis: a hidden replication id is one like any other',
    find: 'same = at and not swapped',
    replace: 'same = not swapped',
    why: 'a server that hides it loses its data, and two hold the same lock',
  },
  {
    ...record,
    name: 'Redis: a database that is swapped away and back has missed nothing',
    find: "' swapdb debug ",
    replace: "' debug ",
    why: 'what was granted in its absence is granted again',
  },
  {
    ...record,
    name: 'Redis: a slot that came without its data was never used',
    find: "or sub(verb, 1, 8) == 'cluster|' and not",
    replace: "or sub(verb, 1, 8) == 'others' and not",
    why: 'after the repair of a cluster two hold the same lock',
  },
  {
    ...record,
    name: 'Redis: whoever trusts ends the wait of all',
    find: 'openAt, write = since + maxTtl, true',
    replace: 'openAt, write = trusts and 0 or since + maxTtl, true',
    why: 'a cache on the same server makes two hold the same lock',
  },
  {
    ...queue,
    name: 'Redis: whoever trusts lets others in',
    find: 'return (over or claim.trusts) and queue.used',
    replace: 'return open and queue.used',
    why: 'a cache on the same server makes two hold the same lock',
  },
  {
    ...record,
    name: 'Redis: a wait ends with the smallest maxTtl',
    find: 'openAt + longest - maxTtl',
    replace: 'openAt',
    why: 'whoever may hold for longer is not waited for',
  },
  {
    ...record,
    name: 'Redis: nobody hears that others have a greater maxTtl',
    find: 'if maxTtl > longest then stamp',
    replace: 'if maxTtl < longest then stamp',
    why: 'after a flush the program with the smaller one lets others in beside a live lease',
  },
  {
    ...record,
    name: 'Redis: numbers that are exact no more are given',
    find: 'if highest >= 2 ^ 53 - 1 then',
    replace: 'if highest < 0 then',
    why: 'all holders have the same token',
  },
  {
    ...clock,
    name: 'Redis: a clock that cannot be right is followed',
    find: 'if micros > LATEST then',
    replace: 'if micros < 0 then',
    why: 'tokens do not grow any more, although the clock was set right',
  },
  {
    ...hazards,
    name: 'Redis: nobody hears of a hidden replication id',
    find: "if (!info.has('master_replid')) {",
    replace: "if (info.has('no such field')) {",
    why: 'nobody learns why locks wait, or that a loss may go unnoticed',
  },
  {
    file: 'src/clients/redis/failovers.ts',
    name: 'Redis: what Sentinels say of a fail-over is not heard',
    find: 'if (name !== this.#group.name) return;',
    replace: 'return;',
    why: 'the old primary grants for ten seconds beside the new one',
  },
  {
    file: 'src/clients/redis/cluster/cluster-link.ts',
    name: 'Redis: what listens stays at a server that is a primary no more',
    find: 'if (left) this.#subscriptions.move();',
    replace: '',
    why: 'a server that has left the cluster sends nothing, and waiters poll',
  },
];
