import { type Faults, inTest } from '../fault.ts';

const takeover = { file: 'src/stores/zookeeper/takeover.ts' };
const keptSession = { file: 'src/stores/zookeeper/kept-session.ts' };
const renew = { file: 'src/stores/zookeeper/verbs/renew.ts' };

const STORE = 'test/stores/zookeeper/store.test.ts';
const SESSIONS = 'test/stores/zookeeper/units/sessions.test.ts';

/** A queue of nodes in sessions, and the recipes of Curator. */
export const ZOOKEEPER_FAULTS: Faults = {
  'ZooKeeper: a queue is in the order of names': {
    file: 'src/stores/zookeeper/reading.ts',
    find: 'places.sort(bySequence)',
    replace: 'places.sort((a, b) => (a.name < b.name ? -1 : 1))',
    why: 'whoever comes later may stand before a holder, and hold beside it',
    by: inTest(STORE, "who waits for 'readers and writers' watches one node"),
  },
  'ZooKeeper: a note that was there before is taken for a new one': {
    ...takeover,
    find: 'is === was + 1 && ',
    replace: '',
    why: 'a successor is told of a release where there is unfinished work',
    by: inTest(STORE, 'a hold that left no note has died, whatever one before it noted'),
  },
  'ZooKeeper: the note of any release lets a waiter in': {
    ...takeover,
    find: ' || note.sequence !== before.sequence',
    replace: '',
    why: 'a claim that was evicted holds beside another one',
    by: inTest(STORE, 'the note of an earlier hold lets in no waiter that has gone'),
  },
  'ZooKeeper: the note of the one before lets a waiter in that has gone': {
    ...takeover,
    find: '  if (!onlyThoseBefore(seen, facts)) return undefined;\n',
    replace: '',
    why: 'a claim that was evicted as its turn came holds beside the next one',
    by: inTest(STORE, 'a waiter whose node is gone is not let in by the note of the one before it'),
  },
  'ZooKeeper: a life is counted from when it is asked about': {
    ...keptSession,
    find: 'this.session.touchedAt +',
    replace: 'this.#parts.clock.now() +',
    why: 'the leader may end a session, and let others in, while its holders count on it',
    by: inTest(SESSIONS, 'a life is counted from when the session was surely heard of'),
  },
  'ZooKeeper: whoever closes ends the sessions of claims': {
    ...keptSession,
    find: 'this.session.abandon();',
    replace: 'void this.session.close();',
    why: 'another holds beside work that has not settled',
    by: inTest(
      SESSIONS,
      'whoever closes leaves the sessions of claims to themselves, and ends the others',
    ),
  },
  'ZooKeeper: a write is told to the leader as soon as another follows': {
    file: 'src/clients/zookeeper/session/confirmations.ts',
    find: 'each.answeredAt + this.#halfTickMs',
    replace: 'each.answeredAt',
    why: 'a follower has told less than is counted on, and the session ends early',
    by: inTest(
      'test/clients/zookeeper/units/confirmations.test.ts',
      'a write is told when another came half a tick later, and one more after that',
    ),
  },
  'ZooKeeper: a heartbeat does not look for the nodes': {
    ...renew,
    find: 'await check(kept, rest);',
    replace: 'rest.length > 0 ? undefined : 0;',
    why: 'whoever was evicted is told that it holds',
    by: inTest(STORE, 'a heartbeat finds an eviction; at once: false'),
  },
  'ZooKeeper: without a connection a heartbeat answers what was last told': {
    ...renew,
    find: 'if (kept.silent) throw temporaryFailure(DISCONNECTED);',
    replace: 'if (kept.silent) return failures;',
    why: 'a lease counts as confirmed although nobody has been asked',
    by: inTest(STORE, 'nothing is confirmed while there is no connection'),
  },
  'ZooKeeper: a release does not wait for the claim that it ends': {
    file: 'src/stores/zookeeper/verbs/release.ts',
    find: 'if (own.entering) {\n    own.left',
    replace: 'if (afterMs < 0) {\n    own.left',
    why: 'the node comes behind its release, and nobody deletes it',
    by: inTest(STORE, 'a release waits for what is on its way, and deletes it'),
  },
  'ZooKeeper: a queue whose numbers overflow soon is joined': {
    file: 'src/stores/zookeeper/verbs/claim.ts',
    find: ' || place.sequence > LAST_NUMBER;',
    replace: ';',
    why: 'soon all have one number, and several hold',
    by: inTest(
      'test/stores/zookeeper/overflow.test.ts',
      'no read claim joins others at such numbers',
    ),
  },
  'ZooKeeper: others get past a claim of another kind that has not left yet': {
    file: 'src/stores/consensus/queue-view.ts',
    find: 'admissible(odd < 0 ? places : places.slice(0, odd))',
    replace: 'admissible(places.filter(({ kind, foreign }) => foreign || !this.misfit(kind)))',
    why: 'when it is the first, they are strangers in their own queue',
    by: inTest(
      'test/stores/consensus/queue-view.test.ts',
      'nobody gets past a claim of another kind that is about to leave',
    ),
  },
  'ZooKeeper: a record is written whatever was done to the claim': {
    file: 'src/stores/zookeeper/verbs/keep.ts',
    find: "const check = { step: 'check', path, version } as const;",
    replace: "const check = { step: 'check', path: '/' } as const;",
    why: 'who stalled overwrites what the next one says',
    by: inTest(
      'test/stores/zookeeper/conformance/zookeeper.test.ts',
      'keep and recall: a claim that does not hold keeps nothing: evicted',
    ),
  },
  'ZooKeeper: tries enter together whatever came after their look': {
    file: 'src/stores/zookeeper/verbs/together.ts',
    find: "    { step: 'check', path: path + String(note?.next ?? 0).padStart(10, '0') },\n",
    replace: '',
    why: 'some locks are held for a try that fails',
    by: inTest(
      'test/stores/zookeeper/store-strikes.test.ts',
      'several tries make nothing if a claim comes after they have looked',
    ),
  },
  'ZooKeeper latch: nodes have the names of mutexes': {
    file: 'src/stores/zookeeper/places.ts',
    find: "return 'latch-';",
    replace: "return 'lock-';",
    why: 'two lead: a latch in Java sees none of our candidates before it',
    by: inTest(
      'test/stores/zookeeper/units/places.test.ts',
      'each recipe knows its own nodes, and no others',
    ),
  },
};
