/**
 * The scripts that run inside the server. Their text is constant: names come only as keys and
 * arguments, and every key that a script touches is among its keys.
 */
import { createHash } from 'node:crypto';
import change from './lua/change.lua';
import claim from './lua/claim.lua';
import clock from './lua/clock.lua';
import handOff from './lua/hand-off.lua';
import join from './lua/join.lua';
import keep from './lua/keep.lua';
import kept from './lua/kept.lua';
import plain from './lua/plain.lua';
import queue from './lua/queue.lua';
import recall from './lua/recall.lua';
import record from './lua/record.lua';
import release from './lua/release.lua';
import renew from './lua/renew.lua';
import server from './lua/server.lua';

export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** The scripts of the contract's verbs. */
export interface Scripts {
  readonly claim: Script;
  readonly renew: Script;
  readonly release: Script;
  /** Downgrade, raise, evict and inspect. */
  readonly change: Script;
  readonly keep: Script;
  readonly recall: Script;
}

const PARTS: Readonly<Record<string, string>> = {
  'clock.lua': clock,
  'record.lua': record,
  'queue.lua': queue,
  'join.lua': join,
  'kept.lua': kept,
  'hand-off.lua': handOff,
  'plain.lua': plain,
};

function script(source: string): Script {
  const text = source.replace(/^ *-- include (\S+)$/gm, (_, part: string) => PARTS[part] ?? '');
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

function plainScript(verb: string, flags: string, publishes = false): Script {
  const parts = ['clock.lua', 'record.lua', 'kept.lua', 'plain.lua'].map(
    (part) => `-- include ${part}\n`,
  );
  const head = `#!lua${flags}\nlocal VERB, PUBLISHES = '${verb}', ${publishes}\n`;
  return script(`${head}${parts.join('')}`);
}

/** Returns when a server of a cluster may have lost something. */
export const SERVER: Script = script(server);

/** A resource is a queue of claims. */
export const QUEUE: Scripts = {
  claim: script(claim),
  renew: script(renew),
  release: script(release),
  change: script(change),
  keep: script(keep),
  recall: script(recall),
};

/** A resource is a key that is there, or not. */
export const PLAIN: Scripts = {
  claim: plainScript('claim', ''),
  renew: plainScript('renew', ' flags=allow-oom'),
  release: plainScript('release', ' flags=allow-oom'),
  change: plainScript('inspect', ' flags=allow-oom'),
  keep: plainScript('keep', ''),
  recall: QUEUE.recall,
};

/** The same, and a release is published to those who listen for the key. */
export const PUBLISHED: Scripts = {
  ...PLAIN,
  release: plainScript('release', ' flags=allow-oom', true),
};
