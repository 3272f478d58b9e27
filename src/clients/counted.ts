/**
 * Counts the connections that stores keep to one place: a server, or one of its databases. A
 * program that makes a store for each request runs out of them without knowing why: it is warned.
 * What would break it: a client that does not show where it connects to, such as a pool of mariadb.
 */
import { onAbort } from '../base/aborts.ts';
import { Warnings } from './warnings.ts';

/** Those of twenty stores in Redis, or ten in SQL. A program needs one in a place, or a few. */
const MOST = 20;

const MANY =
  `Stores have more than ${MOST} connections to one place. Make one when the program starts,` +
  ' not one for each request, or close each with locks.close(). See' +
  ' node_modules/holdfast/docs/guide/troubleshooting.md#too-many-stores';

const warnings = new Warnings();

/** By place, which may contain a password and is never shown. */
const places = new Map<string, Set<WeakRef<AbortSignal>>>();

/** Counts one until the signal aborts, or is forgotten with its store while the server is away. */
export function countConnection(settings: object, closing: AbortSignal): void {
  const place = placeIn(settings);
  if (closing.aborted || !/"(host|port|path|socketPath|connectionString)"/.test(place)) return;
  const open = places.get(place) ?? new Set<WeakRef<AbortSignal>>();
  const ref = new WeakRef(closing);
  places.set(place, open.add(ref));
  if (open.size > MOST) for (const each of open) if (!each.deref()) open.delete(each);
  if (open.size > MOST) warnings.warn('HOLDFAST_MANY_STORES', MANY);
  onAbort(closing, () => {
    if (open.delete(ref) && open.size === 0) places.delete(place);
  });
}

const WHERE = [
  ...['host', 'port', 'path', 'socketPath', 'connectionString', 'db', 'database', 'name'],
  ...['sentinels', 'options', 'config', 'connectionConfig', 'connectionParameters'],
];

/** Those of mysql2 with promises are further inside. */
function placeIn(settings: object): string {
  const { pool, connection } = settings as Readonly<Record<string, object | undefined>>;
  return JSON.stringify({ ...settings, ...(pool ?? connection) }, WHERE);
}
