/**
 * The scripts that run inside the server. Their text is constant: names come as keys and arguments
 * alone, and every key that a script touches is among its keys.
 */
import { createHash } from 'node:crypto';
import change from './lua/change.lua';
import claim from './lua/claim.lua';
import queue from './lua/queue.lua';
import record from './lua/record.lua';
import release from './lua/release.lua';
import renew from './lua/renew.lua';

export interface Script {
  readonly text: string;
  readonly sha: string;
}

const PARTS: Readonly<Record<string, string>> = { 'record.lua': record, 'queue.lua': queue };

function script(source: string): Script {
  const text = source.replace(/^ *-- include (\S+)$/gm, (_, part: string) => PARTS[part] ?? '');
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

export const CLAIM: Script = script(claim);
export const RENEW: Script = script(renew);
export const RELEASE: Script = script(release);
/** Downgrade, raise, evict and inspect. */
export const CHANGE: Script = script(change);
