import { type Scripts, verbScript } from '../scripts.ts';
import kinds from './lua/kinds.lua';
import redisson from './lua/redisson.lua';

/** A resource is a lock of Redisson; `fenced`: with its counter of tokens. */
export function redissonScripts(fenced: boolean): Scripts {
  const text = `local FENCED = ${fenced}\n${kinds}${redisson}`;
  return {
    claim: verbScript('claim', text),
    renew: verbScript('renew', text, 'full'),
    release: verbScript('release', text, 'full'),
    change: verbScript('inspect', text, 'full'),
  };
}
