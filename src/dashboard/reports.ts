/** What the events of these locks say, for the timeline and the figures: exact, with reasons. */
import { hostname } from 'node:os';
import { numberOf, tokenOf } from '../contract/token.ts';
import type { Engine } from '../core/engine.ts';
import type { LockEvents } from '../core/events.ts';
import { whoText } from './board.ts';
import { keepNewest } from './history.ts';
import type { Watcher } from './watcher.ts';
import type { Told } from './wire.ts';

/** Most resources whose last release is remembered, for the time to the next grant. */
const MAX_RELEASES = 1_000;

/** Listens until the function that it returns is called. */
export function listen(
  { services }: Engine,
  { history, prefix }: Pick<Watcher, 'history' | 'prefix'>,
): () => void {
  const { events, settings } = services;
  const who = whoText({ host: hostname(), pid: process.pid, label: settings.label ?? null });
  const releases = new Map<string, number>();
  /** What is beyond the prefix is neither told nor counted. */
  const on = <N extends 'acquired' | 'released' | 'lost' | 'missed'>(
    type: N,
    heard: (event: LockEvents[N], name: string) => void,
  ): (() => void) =>
    events.on(type, (event) => {
      const name = event.resource.slice(settings.prefix.length);
      if (name.startsWith(prefix)) heard(event, name);
    });
  const tell = (
    name: string,
    token: bigint | undefined,
    rest: Pick<Told, 'what' | 'detail'>,
  ): void => {
    const shown = token === undefined ? null : String(token);
    const seat = token === undefined ? null : String(tokenOf(numberOf(token)));
    history.tell({ at: Date.now(), name, token: shown, who, from: 'locks', ...rest }, seat);
  };
  const freed = (name: string): void => {
    releases.set(name, performance.now());
    keepNewest(releases, MAX_RELEASES);
  };
  const stops = [
    on('acquired', (event, name) => {
      const since = releases.get(name);
      releases.delete(name);
      history.count('grant', Date.now());
      // Through the store another process may have held it in between.
      if (event.handOff === 'local' && since !== undefined) {
        history.sample('hand-off', Date.now(), performance.now() - since);
      }
      const what = event.handOff ? 'handed on' : 'granted';
      tell(name, event.token, { what, detail: takeoverText(event) });
    }),
    on('released', ({ token }, name) => {
      freed(name);
      tell(name, token, { what: 'released', detail: null });
    }),
    on('lost', ({ token, reason, detail }, name) => {
      freed(name);
      history.count('loss', Date.now());
      const why = detail === undefined ? reason : `${reason}: ${detail}`;
      tell(name, token, { what: 'lost', detail: why });
    }),
    on('missed', ({ why }, name) => tell(name, undefined, { what: 'missed', detail: why })),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function takeoverText({ takeover }: LockEvents['acquired']): string | null {
  return takeover ? `the holder before was ${takeover.reason}` : null;
}
