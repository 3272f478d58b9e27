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
