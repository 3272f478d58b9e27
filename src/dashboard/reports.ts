/** What the events of this process's locks say, for the timeline: exact, with reasons. */
import { hostname } from 'node:os';
import { numberOf, tokenOf } from '../contract/token.ts';
import type { Engine } from '../core/engine.ts';
import type { LockEvents } from '../core/events.ts';
import { whoText } from './board.ts';
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
  const tell = (
    { resource, token }: { readonly resource: string; readonly token?: bigint },
    rest: Pick<Told, 'what' | 'detail'>,
  ): void => {
    const name = resource.slice(settings.prefix.length);
    if (!name.startsWith(prefix)) return;
    const shown = token === undefined ? null : String(token);
    const seat = token === undefined ? null : String(tokenOf(numberOf(token)));
    history.tell({ at: Date.now(), name, token: shown, who, from: 'process', ...rest }, seat);
  };
  const freed = (resource: string): void => {
    releases.set(resource, performance.now());
    for (const oldest of releases.keys()) {
      if (releases.size <= MAX_RELEASES) break;
      releases.delete(oldest);
    }
  };
  const stops = [
    events.on('acquired', (event) => {
      const since = releases.get(event.resource);
      releases.delete(event.resource);
      history.sample('grant', Date.now());
      if (event.handOff && since !== undefined) {
        history.sample('hand-off', Date.now(), performance.now() - since);
      }
      tell(event, { what: event.handOff ? 'handed on' : 'granted', detail: takeoverText(event) });
    }),
    events.on('released', (event) => {
      freed(event.resource);
      tell(event, { what: 'released', detail: null });
    }),
    events.on('lost', (event) => {
      freed(event.resource);
      history.sample('loss', Date.now());
      const detail = event.detail === undefined ? event.reason : `${event.reason}: ${event.detail}`;
      tell(event, { what: 'lost', detail });
    }),
    events.on('missed', ({ resource, why }) => tell({ resource }, { what: 'missed', detail: why })),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function takeoverText({ takeover }: LockEvents['acquired']): string | null {
  return takeover ? `the holder before was ${takeover.reason}` : null;
}
