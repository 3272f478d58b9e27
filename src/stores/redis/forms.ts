/**
 * How claims are kept, and the scripts that do it inside the server. Their text is constant: names
 * come only as keys and arguments, and every key that a script touches is among its keys.
 */
import { createHash } from 'node:crypto';
import type { Traits } from '../../contract/store.ts';
import { SERVER_QUEUES } from '../status-lines.ts';
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

/** Of the contract's verbs; `change` is downgrade, raise, evict, hand over and inspect. */
type Scripts = Readonly<Record<'claim' | 'renew' | 'release' | 'change' | 'keep', Script>>;

export interface Form extends Scripts {
  readonly name: string;
  readonly traits: Traits;
  /** A release shows the secret of its claim. */
  readonly proves?: boolean;
}

const INCLUDED = { clock, record, functions, queue, join, kept, 'hand-off': handOff };

function script(source: string): Script {
  const include = (_: string, part: string): string => INCLUDED[part as keyof typeof INCLUDED];
  const text = source.replace(/^ *-- include (\S+)\.lua$/gm, include);
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** For a form that is one text for all verbs. All but claims also run on a server without room. */
export function scriptsOf(body: string): Scripts {
  const head = ['clock', 'record', 'functions'].map((part) => `-- include ${part}.lua\n`).join('');
  const verbScript = (verb: string, flags = ''): Script =>
    script(`#!lua${flags}\nlocal VERB = '${verb}'\n${head}${body}`);
  const full = ' flags=allow-oom';
  return {
    claim: verbScript('claim'),
    renew: verbScript('renew', full),
    release: verbScript('release', full),
    change: verbScript('change', full),
    keep: verbScript('keep'),
  };
}

/** Returns when a server of a cluster may have lost something. */
export const LAST_LOSS: Script = script(server);

/** Returns what is kept. */
export const RECALL: Script = script(recall);

/** A resource is a queue of claims. */
export const QUEUE_FORM: Form = {
  name: 'redis',
  traits: SERVER_QUEUES,
  proves: true,
  claim: script(claim),
  renew: script(renew),
  release: script(release),
  change: script(change),
  keep: script(keep),
};

/** A resource is a key; other programs know only whether it is there. */
export const PLAIN_FORM: Form = {
  name: 'redis-plain',
  traits: {
    ...SERVER_QUEUES,
    queue: false,
    permits: false,
    replaces: false,
    tokens: "the server's time, or one more than the last; other programs have none",
    hintsGrant: false,
  },
  ...scriptsOf(plain),
};
