import type { Fault } from '../fault.ts';

const kinds = { file: 'src/stores/redis/redisson/lua/kinds.lua' };
const places = { file: 'src/stores/redis/redisson/places.ts' };
const redisson = { file: 'src/stores/redis/redisson/lua/redisson.lua' };

/** A store that does not keep to Redisson's layout. */
export const REDISSON_FAULTS: readonly Fault[] = [
  {
    ...kinds,
    name: 'Redisson: a lock that is left is told to nobody',
    find: "  tell('redisson_lock__channel', c.key, '0')",
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
    ...kinds,
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
];
