/** What there is to measure, and on which stores. */
import { rivalsPicture } from './measuring/bars.ts';
import { type Picture, scalePicture, whichPicture } from './measuring/pictures.ts';

export interface Figure {
  /** Where the script of this name is; it exports `measure`. */
  readonly room: 'cost' | 'crowds' | 'held';
  /** By their schemes. */
  readonly stores: readonly string[];
  /** All its stores are in one table. */
  readonly together?: true;
  /** It needs so many servers of the store. Default: one. */
  readonly servers?: number;
  /** What it counts is right on a busy machine too: it is always published, with the load. */
  readonly counts?: true;
  /** Where its table is, if not in the README of this folder. */
  readonly page?: string;
  /** Of a store. */
  readonly picture?: { readonly store: string; readonly file: string; readonly draw: Picture };
}

type More = Omit<Figure, 'room' | 'stores'>;

const SERVERS = ['redis', 'postgres', 'mysql', 'etcd', 'zookeeper'];
/** In the order of the tables. */
const SCALE = ['redis', 'postgres', 'mysql', 'sqlite', 'etcd', 'zookeeper'];
const DOCUMENTS = ['table', 'mongodb', 'consul', 'dynamodb', 's3'];

const of =
  (room: Figure['room']) =>
  (stores: readonly string[], more?: More): Figure => ({ room, stores, ...more });
const [cost, crowds, held] = [of('cost'), of('crowds'), of('held')];

export const FIGURES: Readonly<Record<string, Figure>> = {
  uncontended: cost(['sqlite', ...SERVERS, 'hazelcast']),
  once: cost(['sqlite', 'redis'], { together: true }),
  fences: cost(['sqlite', 'redis', 'postgres']),
  passing: cost([...SCALE, 'hazelcast', 'memory', ...DOCUMENTS], { together: true }),
  quorum: cost(['redis'], { together: true, servers: 5 }),
  size: cost(['memory'], { together: true }),
  compare: crowds(['redis', 'postgres', 'mysql', 'sqlite', 'hazelcast'], {
    picture: { store: 'redis', file: 'redis-rivals', draw: rivalsPicture },
  }),
  contended: crowds(SERVERS),
  'many-waiters': crowds(SCALE, {
    ...{ together: true, counts: true, page: 'docs/guide/scale.md' },
    picture: { store: 'redis', file: 'scale-waiters', draw: scalePicture },
  }),
  which: crowds(['postgres'], {
    ...{ together: true, picture: { store: 'postgres', file: 'sql-which', draw: whichPicture } },
  }),
  inventory: crowds(['sqlite', 'postgres'], { together: true, page: 'docs/guide/which-lock.md' }),
  'many-leases': held(SCALE, {
    ...{ together: true, counts: true, page: 'docs/guide/scale.md' },
  }),
  'dead-holder': held(['redis', 'etcd', 'zookeeper']),
};
