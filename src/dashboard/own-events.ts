/** What this process's locks report, for the timeline and the figures: exact, with reasons. */
import { hostname } from 'node:os';
import type { Engine } from '../core/engine.ts';
import type { LockEvents } from '../core/events.ts';
import { MAX_LABEL } from './board.ts';
import { keepNewest } from './figures.ts';
import type { Report, Who } from './wire.ts';

/** Most resources whose last release is remembered, for the time to the next grant. */
const MAX_RELEASES = 1_000;

/** Listens until the function that it returns is called. */
export function listen({ services }: Engine, happened: (report: Report) => void): () => void {
  const { events } = services;
  const releases = new Map<string, number>();
  const freed = (resource: string): void => {
    releases.set(resource, performance.now());
    keepNewest(releases, MAX_RELEASES);
  };
  const stops = [
    events.on('acquired', (event) => {
      const { resource, token } = event;
      const since = releases.get(resource);
      releases.delete(resource);
      // Through the store another process may have held it in between.
      const isOwn = event.handOff === 'local' && since !== undefined;
      happened({
        ...{ resource, what: event.handOff ? 'handed on' : 'granted', token: String(token) },
        ...{ detail: takeoverText(event), handOffMs: isOwn ? performance.now() - since : null },
      });
    }),
    events.on('released', ({ resource, token }) => {
      freed(resource);
      happened({ ...NO_MORE, resource, what: 'released', token: String(token) });
    }),
    events.on('lost', ({ resource, token, reason, detail }) => {
      freed(resource);
      const why = detail === undefined ? reason : `${reason}: ${detail}`;
      happened({ ...NO_MORE, resource, what: 'lost', token: String(token), detail: why });
    }),
    events.on('missed', ({ resource, why }) =>
      happened({ ...NO_MORE, resource, what: 'missed', token: null, detail: why }),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const NO_MORE = { detail: null, handOffMs: null } as const;

/** The process that these locks are in. */
export function processOf({ services: { settings } }: Engine): Who {
  const label = settings.label?.slice(0, MAX_LABEL) ?? null;
  return { host: hostname(), pid: process.pid, label };
}

function takeoverText({ takeover }: LockEvents['acquired']): string | null {
  return takeover ? `the holder before was ${takeover.reason}` : null;
}
