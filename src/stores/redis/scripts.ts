/**
 * The scripts that run inside the server. Their text is constant: names come only as keys and
 * arguments, and every key that a script touches is among its keys.
 */
import { createHash } from 'node:crypto';
import change from './lua/change.lua';
import claim from './lua/claim.lua';
import clock from './lua/clock.lua';
import functions from './lua/functions.lua';
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
  /** A form without them keeps no records. */
  readonly keep?: Script;
  readonly recall?: Script | undefined;
}

const PARTS: Readonly<Record<string, string>> = {
  'clock.lua': clock,
  'record.lua': record,
  'functions.lua': functions,
  'queue.lua': queue,
  'join.lua': join,
  'kept.lua': kept,
  'hand-off.lua': handOff,
};

function script(source: string): Script {
  const text = source.replace(/^ *-- include (\S+)$/gm, (_, part: string) => PARTS[part] ?? '');
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** A verb of a form that is one text for all verbs; `full`: also on a server without room. */
export function verbScript(verb: string, body: string, when?: 'full'): Script {
  const head = `#!lua${when === 'full' ? ' flags=allow-oom' : ''}\nlocal VERB = '${verb}'\n`;
  const parts = ['clock.lua', 'record.lua', 'functions.lua'].map((part) => `-- include ${part}\n`);
  return script(`${head}${parts.join('')}${body}`);
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

const PLAIN_TEXT = plainText(false);

function plainText(publishes: boolean): string {
  return `local PUBLISHES = ${publishes}\n-- include kept.lua\n${plain}`;
}

/** A resource is a key that is there, or not. */
export const PLAIN: Scripts = {
  claim: verbScript('claim', PLAIN_TEXT),
  renew: verbScript('renew', PLAIN_TEXT, 'full'),
  release: verbScript('release', PLAIN_TEXT, 'full'),
  change: verbScript('inspect', PLAIN_TEXT, 'full'),
  keep: verbScript('keep', PLAIN_TEXT),
  recall: QUEUE.recall,
};

/** The same, and a release is published to those who listen for the key. */
export const PUBLISHED: Scripts = {
  ...PLAIN,
  release: verbScript('release', plainText(true), 'full'),
};
