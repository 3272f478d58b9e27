import type { Fault } from '../fault.ts';

const at = (file: string) => ({ file: `src/stores/etcd/${file}.ts` });

/** What a queue of keys with shared leases can get wrong. */
export const ETCD_FAULTS: readonly Fault[] = [
  {
    ...at('leases'),
    name: 'etcd: a lease is kept alive although claims on it are over',
    find: '    await this.clear(now);\n',
    replace: '',
    why: 'a claim that nobody renews, or whose release failed, lives on for ever',
  },
  {
    ...at('leases'),
    name: 'etcd: a new claim gets a lease of any age',
    find: 'lease && (lease.age(now) < YOUNG || (await lease.confirm()))',
    replace: 'lease',
    why: 'a claim is granted with too little life left, and may be lost before its first heartbeat',
  },
  {
    ...at('entering'),
    name: 'etcd: a claim is not compared with the mark of its lease',
    find: "      { target: 'mod', is: '=', key: lease.markKey, to: this.#mark },\n",
    replace: '',
    why: 'one that comes late, after its tombstone, holds for as long as others keep its lease',
  },
  {
    ...at('leases'),
    name: 'etcd: what came before the mark of its lease stays',
    find: 'this.#delete(keys, {',
    replace: 'this.#delete([], {',
    why: 'a claim that was given up, and came late, holds for as long as others keep its lease',
  },
  {
    ...at('leases'),
    name: 'etcd: claims that were made again are deleted',
    find: '.filter(([id]) => !this.occupants.has(id))',
    replace: '',
    why: 'a lock is lost although nothing is wrong',
  },
  {
    ...at('entering'),
    name: 'etcd: a claim that misses the mark of its lease is taken for refused',
    find: 'if (mark !== this.#mark) {',
    replace: 'if (mark < this.#mark) {',
    why: 'a claim fails although nobody stands in its way',
  },
  {
    ...at('queue-watch'),
    name: 'etcd: the note of any hold tells how this one ended',
    find: 'noted?.token === last.number',
    replace: 'noted',
    why: 'a successor is told of a release where there is unfinished work',
  },
  {
    ...at('entering'),
    name: 'etcd: a claim does not look for its tombstone',
    find: "      { target: 'version', is: '=', key: grave, to: 0n },\n",
    replace: '',
    why: 'a late copy of a claim that was released holds until its TTL ends',
  },
  {
    ...at('entering'),
    name: 'etcd: a try compares nothing with the queue',
    find: 'queue ? absent : [...absent, this.#undisturbed()]',
    replace: 'absent',
    why: 'a claim that may not wait stands in the queue',
  },
  {
    ...at('own-claim'),
    name: 'etcd: a claim is promised what its lease has',
    find: 'this.until - at, ',
    replace: '',
    why: 'the store deletes what its holder may still count on',
  },
  {
    ...at('queue-watch'),
    name: 'etcd: whoever left without a note has released',
    find: "leftMs > 0 ? 'released' : 'expired'",
    replace: "leftMs >= 0 ? 'released' : 'expired'",
    why: 'nobody reckons with the unfinished work of who died',
  },
  {
    ...at('together'),
    name: 'etcd: two claims of a resource go in one transaction',
    find: 'const wave = counts.get(resource) ?? 0;',
    replace: 'const wave = 0;',
    why: 'they have one revision, and so one token and no order',
  },
  {
    ...at('changing'),
    name: 'etcd: an eviction with its TTL stays on the lease of its holder',
    find: 'const lease = await leases.ending(ttlMs);',
    replace: 'const { lease } = place;',
    why: 'whoever keeps its lease alive holds for ever what was taken away',
  },
  {
    ...at('keys'),
    name: 'etcd: what stands below a name belongs to it',
    find: " && key.lastIndexOf('/') === length",
    replace: '',
    why: 'a lock waits for locks of other names',
  },
  {
    ...at('renewing'),
    name: 'etcd: a heartbeat that comes too late counts',
    find: 'if (own && own.until <= now) late.add(own.lease);\n    else if (own)',
    replace: 'if (own)',
    why: 'it is answered with a hold while the key may be deleted',
  },
];
