/** What there is to measure, and on which stores. */
import { rivalsPicture } from './measuring/bars.ts';
import { type Picture, scalePicture, waitersPicture, whichPicture } from './measuring/pictures.ts';

export interface Figure {
  /** Where the script of this name is; it exports `measure`. */
  readonly room: 'cost' | 'crowds' | 'held';
  /** By their schemes; tables of these are published. */
  readonly stores: readonly string[];
  /** It can measure these too, when they are asked for. */
  readonly also?: readonly string[];
  /** All its stores are in one table. */
  readonly together?: true;
  /** It needs these servers beside the one of the store, if the store has them. */
  readonly more?: 'cluster' | 'four' | 'three';
  /** What it counts is right on a busy machine too: it is always published, with the load. */
  readonly counts?: true;
  /** Where its table is, if not in the README of this folder. */
  readonly page?: string;
  /** Of a store. */
  readonly picture?: { readonly store: string; readonly file: string; readonly draw: Picture };
}

type More = Omit<Figure, 'room' | 'stores'>;

const SERVERS = ['redis', 'postgres', 'mysql', 'etcd', 'zookeeper'];
const ALL = ['sqlite', ...SERVERS];
/** In the order of the tables. */
const SCALE = ['redis', 'postgres', 'mysql', 'sqlite', 'etcd', 'zookeeper'];

const of =
  (room: Figure['room']) =>
  (stores: readonly string[], more?: More): Figure => ({ room, stores, ...more });
const [cost, crowds, held] = [of('cost'), of('crowds'), of('held')];

/** Those that end servers come last. */
export const FIGURES: Readonly<Record<string, Figure>> = {
  uncontended: cost([...ALL, 'hazelcast'], { also: ['memory'] }),
  shares: cost(['sqlite'], { also: SERVERS }),
  statements: cost(['postgres', 'mysql']),
  once: cost(['sqlite', 'redis'], { together: true, also: ['memory', ...SERVERS] }),
  fences: cost(['sqlite', 'redis', 'postgres']),
  identity: cost(['redis']),
  quorum: cost(['redis'], { together: true, more: 'four' }),
  telemetry: cost(['memory'], { together: true }),
  size: cost(['memory'], { together: true }),
  cli: cost(['sqlite'], { together: true, also: SERVERS }),
  compare: crowds(['redis', 'postgres', 'mysql', 'zookeeper', 'hazelcast'], {
    ...{ also: ['sqlite', 'etcd'] },
    picture: { store: 'redis', file: 'redis-rivals', draw: rivalsPicture },
  }),
  contended: crowds(SERVERS, { also: ['sqlite', 'hazelcast'] }),
  waiters: crowds(ALL, {
    picture: { store: 'redis', file: 'redis-waiters', draw: waitersPicture },
  }),
  'hand-off': crowds(['sqlite', 'zookeeper', 'hazelcast'], { also: SERVERS }),
  'one-process': crowds(['redis'], { also: ALL }),
  local: crowds(['memory', 'sqlite'], { together: true, also: SERVERS }),
  'many-waiters': crowds(SCALE, {
    ...{ together: true, counts: true, page: 'docs/guide/scale.md' },
    picture: { store: 'redis', file: 'scale-waiters', draw: scalePicture },
  }),
  shared: crowds(['zookeeper'], { also: ALL }),
  refresh: crowds(['sqlite', 'redis'], { together: true, also: SERVERS }),
  which: crowds(['postgres'], {
    ...{ together: true, picture: { store: 'postgres', file: 'sql-which', draw: whichPicture } },
  }),
  inventory: crowds(['sqlite', 'postgres'], { together: true, page: 'docs/guide/which-lock.md' }),
  leases: held(ALL, { also: ['memory'] }),
  'many-leases': held(SCALE, {
    ...{ together: true, counts: true, page: 'docs/guide/scale.md' },
  }),
  waiting: held(['sqlite', 'postgres', 'mysql'], { also: ALL }),
  tables: held(['postgres', 'mysql']),
  cluster: crowds(['redis'], { more: 'cluster' }),
  three: crowds(['etcd', 'zookeeper'], { more: 'three' }),
  'dead-holder': held(['redis', 'etcd', 'zookeeper'], { more: 'three' }),
  'dead-leader': held(['etcd', 'zookeeper'], { more: 'three' }),
};
