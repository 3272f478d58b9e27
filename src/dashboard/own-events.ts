/** What this process's locks report, for the timeline and the figures: exact, with reasons. */
import type { Engine } from '../core/engine.ts';
import { HOST } from '../core/local-queue.ts';
import { whoOf } from './board.ts';
import { keepNewest } from './figures.ts';
import type { Report, Who } from './wire.ts';

/** Most resources whose last release is remembered, for the time to the next grant. */
const MAX_RELEASES = 1_000;

/** Listens until the function that it returns is called. */
export function listen(
  { services: { events, settings } }: Engine,
  heard: (report: Report, by: Who) => void,
): () => void {
  const by = whoOf({ host: HOST, pid: process.pid, ...settings });
  const happened = (report: Report): void => heard(report, by);
  const releases = new Map<string, number>();
  const freed = (resource: string): void => {
    releases.set(resource, performance.now());
    keepNewest(releases, MAX_RELEASES);
  };
  const stops = [
    events.on('acquired', (event) => {
      const { resource, token, takeover } = event;
      const since = releases.get(resource);
      releases.delete(resource);
      // A hold that changes hands is for looks to show.
      if (takeover?.reason === 'handed-over' && takeover.token === token - 1n) return;
      // Through the store another process may have held it in between.
      const isOwn = event.handOff === 'local' && since !== undefined;
      happened({
        resource,
        what: event.handOff ? 'handed on' : 'granted',
        token: String(token),
        detail: takeover ? `the holder before was ${takeover.reason}` : null,
        handOffMs: isOwn ? performance.now() - since : null,
      });
    }),
    events.on('released', ({ resource, token, handedOver }) => {
      if (handedOver) return;
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
