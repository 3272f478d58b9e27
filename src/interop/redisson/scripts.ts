import { type Scripts, verbScript } from '../../stores/redis/scripts.ts';
import fair from './lua/fair.lua';
import kinds from './lua/kinds.lua';
import layout from './lua/layout.lua';
import line from './lua/line.lua';
import redisson from './lua/redisson.lua';

/** What a mutex is in Java: what `getLock`, `getFencedLock` or `getFairLock` gives. */
export type RedissonMutex = 'lock' | 'fenced' | 'fair';

/** A resource is a lock of Redisson. */
export function redissonScripts(mutex: RedissonMutex): Scripts {
  const verbs = mutex === 'fair' ? `${line}${fair}` : `${kinds}${redisson}`;
  const text = `local FENCED = ${mutex === 'fenced'}\n${layout}${verbs}`;
  return {
    claim: verbScript('claim', text),
    renew: verbScript('renew', text, 'full'),
    release: verbScript('release', text, 'full'),
    change: verbScript('change', text, 'full'),
  };
}
