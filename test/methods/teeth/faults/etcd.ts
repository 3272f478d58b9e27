import { type Faults, inTest } from '../fault.ts';

const claim = { file: 'src/stores/etcd/verbs/attempt.ts' };
const following = { file: 'src/stores/etcd/following.ts' };
const ownClaim = { file: 'src/stores/etcd/own-claim.ts' };

const EXPIRY = 'test/stores/etcd/expiry.test.ts';
const DIFFERENTIAL = 'test/stores/etcd/differential.test.ts';
const CONFORMANCE = 'test/stores/etcd/conformance/etcd.test.ts';

/** A queue of keys with shared leases. */
export const ETCD_FAULTS: Faults = {
  'etcd: a lease is kept alive although claims on it are over': {
    file: 'src/stores/etcd/lease.ts',
    find: '    await this.clear(now);\n',
    replace: '',
    why: 'a claim that nobody renews, or whose release failed, lives on for ever',
    by: {
      ...inTest(EXPIRY, 'a claim that nobody renews ends, although others keep its lease'),
      hung: true,
    },
  },
  'etcd: a claim is not compared with the mark of its lease': {
    ...claim,
    find: "      { target: 'mod', is: '=', key: lease.markKey, to: this.#mark },\n",
    replace: '',
    why: 'one that comes late, after its tombstone, holds for as long as others keep its lease',
    by: inTest(
      'test/stores/etcd/expiry-late.test.ts',
      'so does one whose release was lost as well',
    ),
  },
  'etcd: the note of any hold tells how this one ended': {
    ...following,
    find: 'if (last && noted?.token !== last.number) void',
    replace: 'if (last && !noted) void',
    why: 'a successor is told of a release where there is unfinished work',
    by: inTest(EXPIRY, 'a note on another hold says nothing of the one that ended'),
  },
  'etcd: a claim does not look for its tombstone': {
    ...claim,
    find: "      { target: 'version', is: '=', key: tombstone, to: 0n },\n",
    replace: '',
    why: 'a late copy of a claim that was released holds until its TTL ends',
    by: inTest(DIFFERENTIAL, 'etcd answers and tells as memory does'),
  },
  'etcd: a waiter is ended whatever has become of those before it': {
    file: 'src/stores/etcd/verbs/change.ts',
    find: '[place, ...bars].map(unchanged)',
    replace: '[place].map(unchanged)',
    why: 'one that has just been admitted is ended at once, and two hold',
    by: inTest(
      'test/stores/etcd/evictions.test.ts',
      'whose turn has come holds; only if it waits: true',
    ),
  },
  'etcd: a claim enters alone whatever is in its queue': {
    ...claim,
    find: "this.way === 'alone' ? keys.queue(resource) : { key }",
    replace: '{ key }',
    why: 'it takes itself for the holder beside another',
    by: inTest(DIFFERENTIAL, 'etcd answers and tells as memory does'),
  },
  'etcd: a claim is promised what its lease has': {
    ...ownClaim,
    find: 'this.until - at, ',
    replace: '',
    why: 'the store deletes what its holder may still count on',
    by: inTest(EXPIRY, 'nobody is promised more than the store will keep'),
  },
  'etcd: two claims of a resource go in one transaction': {
    file: 'src/stores/etcd/together.ts',
    find: 'const wave = counts.get(resource) ?? 0;',
    replace: 'const wave = 0;',
    why: 'they have one revision, and so one token and no order',
    by: inTest(DIFFERENTIAL, 'etcd answers and tells as memory does'),
  },
  'etcd: of several tries in one step the first has the only condition': {
    file: 'src/stores/etcd/together.ts',
    find: 'const compare = txns.flatMap((txn) => txn.compare ?? []);',
    replace: 'const compare = txns[0]?.compare ?? [];',
    why: 'the others enter behind who holds, and hold with the first one alone',
    by: inTest(
      CONFORMANCE,
      'all or none: if one is not free, none is held, and nothing stays of them',
    ),
  },
  'etcd: a heartbeat that comes too late counts': {
    file: 'src/stores/etcd/verbs/renew.ts',
    find: 'if (own && own.until <= now) late.add(own.lease);\n    else if (own)',
    replace: 'if (own)',
    why: 'it is answered with a hold while the key may be deleted',
    by: inTest(EXPIRY, 'a claim of less than whole seconds is never held after it has ended'),
  },
  'etcd: a record is written whatever has become of the claim': {
    file: 'src/stores/etcd/verbs/keep.ts',
    find: 'await client.txn({ compare, success: [operation] })',
    replace: 'await client.txn({ success: [operation] })',
    why: 'who stalled overwrites what the next one says',
    by: inTest(CONFORMANCE, 'keep and recall: a claim that is to end keeps nothing: evicted'),
  },
  'etcd: a release does not look whether the hold has passed on': {
    file: 'src/stores/etcd/verbs/release.ts',
    find: "own ? { target: 'version', is: '>', key, to: 0n } : isAbsent(tombstone)",
    replace: "{ target: 'version', is: '>', key, to: 0n }",
    why: 'a late release of the giver ends the hold of the taker',
    by: inTest(
      CONFORMANCE,
      'hand-over: the old id does nothing any more, and the new one may pass it on',
    ),
  },
  'etcd: a claim that was admitted once counts as admitted for ever': {
    ...ownClaim,
    find: 'return super.see(view);',
    replace: 'return this.held && !view.holds(this.id) ? false : super.see(view);',
    why: 'one that is over is made again behind others, and holds beside them',
    by: inTest(CONFORMANCE, 'expiry: a holder whose answer was lost blocks others for one TTL'),
  },
  'etcd: a stream is reset in the course of an event': {
    file: 'src/clients/etcd/rpc-stream.ts',
    find: 'setImmediate(() => this.#http.close(constants.NGHTTP2_CANCEL));',
    replace: 'this.#http.close(constants.NGHTTP2_CANCEL);',
    why: 'on Node 20, a server without a leader may send the process into an endless loop',
    by: inTest(
      'test/clients/etcd/resets.test.ts',
      'a client retires a connection because a stream ended',
    ),
  },
};
