import type { Fault } from '../fault.ts';

const kinds = { file: 'src/interop/redisson/lua/kinds.lua' };
const layout = { file: 'src/interop/redisson/lua/layout.lua' };
const line = { file: 'src/interop/redisson/lua/line.lua' };
const places = { file: 'src/interop/redisson/places.ts' };
const redisson = { file: 'src/interop/redisson/lua/redisson.lua' };

/** A store that does not keep to Redisson's layout. */
export const REDISSON_FAULTS: readonly Fault[] = [
  {
    ...kinds,
    name: 'Redisson: a lock that is left is told to nobody',
    find: "  tell('redisson_lock__channel:' .. braced(c.key), '0')",
    replace: '',
    why: 'a waiter in Java sleeps until the lease would have ended',
  },
  {
    ...places,
    name: 'Redisson: listens to another channel',
    find: 'braced(this.keyOf(resource))',
    replace: 'this.keyOf(resource)',
    why: 'nothing that Java says is heard',
  },
  {
    ...layout,
    name: 'Redisson: what has just been made lasts for ever',
    find: "math.max(call('PTTL', key), ttl)",
    replace: 'math.max(leftOf(key), ttl)',
    why: 'a reader that dies alone keeps writers out for weeks',
  },
  {
    ...kinds,
    name: 'Redisson: a lock in use is entered',
    find: "return false end\n  call('HSET', c.key, c.owner, 1)",
    replace: "end\n  call('HSET', c.key, c.owner, 1)",
    why: 'two hold it',
  },
  {
    ...kinds,
    name: 'Redisson: a lock has no end',
    find: "  call('HSET', c.key, c.owner, 1)\n  call('PEXPIRE', c.key, c.ttl)",
    replace: "  call('HSET', c.key, c.owner, 1)",
    why: 'a crash keeps it for ever, and waiters in Java sleep without an end',
  },
  {
    ...kinds,
    name: 'Redisson: the first reader to leave takes all along',
    find: '  if left > 0 then',
    replace: '  if false then',
    why: 'a writer comes in while others read',
  },
  {
    ...kinds,
    name: 'Redisson: permits of the dead are not taken back',
    find: 'more(c, #over)',
    replace: 'more(c, 0)',
    why: 'each crash makes the semaphore smaller for ever',
  },
  {
    ...redisson,
    name: 'Redisson: another kind of lock is entered as one of its own',
    find: "if used and used ~= asks then return 'g mismatch ' .. used end",
    replace: '',
    why: 'a mutex waits for readers without a word',
  },
  {
    ...kinds,
    name: 'Redisson: readers are not told that a writer reads now',
    find: '  writerLeft(c)\nend\n\n-- RPermit',
    replace: 'end\n\n-- RPermit',
    why: 'readers on both sides sleep until the lease would have ended',
  },
  {
    ...kinds,
    name: 'Redisson: a writer that leaves tells only those that sleep',
    find: "  tell(channel, '0')\n",
    replace: '',
    why: 'a thread in Java that was about to sleep does so until the lease would have ended',
  },
  {
    file: 'src/interop/redisson/lua/fair.lua',
    name: 'Redisson: a newcomer passes those who wait for a fair lock',
    find: "local free = #q.line == 0 and call('EXISTS', q.key) == 0",
    replace: "local free = call('EXISTS', q.key) == 0",
    why: 'a newcomer that comes before the first waiter has asked gets the lock',
  },
  {
    file: 'src/interop/redisson/lua/fair.lua',
    name: 'Redisson: the first waiter for a fair lock, in Java, is told nothing',
    find: '    wake(q, first.owner)',
    replace: '',
    why: 'it sleeps until the lease would have ended',
  },
  {
    ...line,
    name: 'Redisson: a waiter that Java took for dead comes back at the end',
    find: '    insert(q, place, claim, claim.ends)',
    replace: '    insert(q, #q.line + 1, claim, claim.ends)',
    why: 'behind a long hold, waiters of ours never come first',
  },
  {
    ...line,
    name: 'Redisson: a waiter of ours lasts longer, and those behind it do not',
    find: 'for i = place, #q.line do call',
    replace: 'for i = place, place do call',
    why: 'Java takes waiters behind it for dead once it has had the lock',
  },
  {
    ...line,
    name: 'Redisson: the notes of a queue end with the last of ours',
    find: 'math.max(claim.ends, last, now',
    replace: 'math.max(claim.ends, now',
    why: 'after a failure of many at once nothing gets the lock for as many ttls',
  },
  {
    ...line,
    name: 'Redisson: ends of waiters stay when the first one gets a fair lock',
    find: 'remove(q, 1, claim.ttl)',
    replace: 'remove(q, 1)',
    why: 'a waiter in Java that died keeps the others waiting for longer with each turn of ours',
  },
  {
    file: 'src/clients/redis/cluster/cluster-link.ts',
    name: 'Redisson: listeners stay where a slot was',
    find: 'slots[where] !== before?.slots[where]',
    replace: 'false',
    why: 'messages are sent where nothing listens, and waiters poll',
  },
];
