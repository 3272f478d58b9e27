import { type Faults, inTest } from '../fault.ts';

const document = { file: 'src/stores/document/document.ts' };
const text = { file: 'src/stores/document/text.ts' };
const dynamodb = { file: 'src/stores/dynamodb/documents.ts' };

const PROTOCOL = 'test/stores/document/protocol.test.ts';
const DYNAMODB = 'test/stores/dynamodb/documents.test.ts';
const HAZELCAST = 'test/stores/hazelcast/documents.test.ts';
/** A case that each service has. */
const REPLACES = 'documents: a write replaces the version it names, and no other';

const LOST = 'two hold the same lock: a write replaces what it has not read';

/** A queue in a text that is compared and set, and the services that do so. */
export const DOCUMENT_FAULTS: Faults = {
  'documents: numbers begin anew after a loss': {
    ...document,
    find: 'return { now, number: number > this.#last ? number : this.#last + 1n };',
    replace: 'return { now, number };',
    why: 'a fence refuses the next holder',
    by: inTest(PROTOCOL, "tells of a document that is 'an older one', and counts on"),
  },
  'documents: idle ones are removed without a common clock': {
    ...document,
    find: "version === undefined || life.clock !== 'service') return;",
    replace: 'version === undefined) return;',
    why: 'tokens go back where the clocks of processes differ',
    by: inTest(PROTOCOL, 'removes what says no more than the time does, undefined'),
  },
  'documents: an outcome in doubt is a failure': {
    file: 'src/stores/document/asks.ts',
    find: 'reject(doubtful ? unsure : error);',
    replace: 'reject(error);',
    why: 'a claim that may be in the queue is not released',
    by: inTest(PROTOCOL, 'lets no late copy in after a release'),
  },
  'documents: the clock of a text is not looked at': {
    ...text,
    find: 'if (clock !== heading.clock) {',
    replace: 'if (clock === heading.resource) {',
    why: 'two programs that go by different clocks both hold a lock',
    by: inTest(PROTOCOL, 'refuses a text that goes by another clock, or that is damaged'),
  },
  'documents: a foreign text is taken for an empty queue': {
    ...text,
    find: 'resource !== heading.resource) {',
    replace: "resource !== heading.resource) {\n    return { queue: new ClaimQueue(), write: '' };",
    why: "another program's data are overwritten",
    by: inTest(
      PROTOCOL,
      'fails for a resource with a foreign text, and for no other, and writes nothing: {',
    ),
  },
  'documents: a dead claim is buried at first sight': {
    file: 'src/stores/document/life.ts',
    find: 'entry.expiresAt = known ?? now + entry.lifeMs * (1 + DRIFT);',
    replace: 'entry.expiresAt = known ?? now;',
    why: 'two hold the lock as soon as a process comes along',
    by: inTest(PROTOCOL, 'takes a dead holder for alive until it has watched it for its TTL'),
  },
  'consul: a write asks for no version': {
    file: 'src/stores/consul/documents.ts',
    find: `Verb: 'cas'`,
    replace: `Verb: 'set'`,
    why: LOST,
    by: inTest('test/stores/consul/documents.test.ts', REPLACES),
  },
  'dynamodb: a write asks for no version': {
    ...dynamodb,
    find: `ConditionExpression: '#version = :version'`,
    replace: `ConditionExpression: 'attribute_exists(#version) OR #version = :version'`,
    why: LOST,
    by: inTest(DYNAMODB, REPLACES),
  },
  'dynamodb: a write that the client repeated is taken for refused': {
    ...dynamodb,
    find: 'if (isRefused(error) && !isRepeated(error))',
    replace: 'if (isRefused(error))',
    why: 'a claim that was written is taken for refused, and holds unknown to its caller',
    by: inTest(
      DYNAMODB,
      'documents: a write whose reply is lost is not told as one that was not made',
    ),
  },
  'mongodb: a write asks for no version': {
    file: 'src/stores/mongodb/documents.ts',
    find: 'mongo.updateOne({ _id: key, version: onto }',
    replace: 'mongo.updateOne({ _id: key }',
    why: LOST,
    by: inTest(
      'test/stores/mongodb/documents.test.ts',
      'MongoDB, whose driver writes again: true',
      REPLACES,
    ),
  },
  'objects: a write asks for no version': {
    file: 'src/stores/objects/documents.ts',
    find: ': { ifMatch: onto };',
    replace: ': {};',
    why: LOST,
    by: inTest('test/stores/objects/documents.test.ts', REPLACES),
  },
  'table: a write asks for no version': {
    file: 'src/stores/table/documents.ts',
    find: `WHERE name = ? AND version = ?\${reply}`,
    replace: `WHERE name = ? AND (version = ? OR true)\${reply}`,
    why: LOST,
    by: inTest('test/stores/table/documents.test.ts', "'PostgreSQL'", 'pg', REPLACES),
  },
  'hazelcast: a refused write counts as written': {
    file: 'src/stores/hazelcast/documents.ts',
    find: "!== text) return 'other'",
    replace: "=== text) return 'other'",
    why: 'two hold the same lock: a write that was refused is taken for done',
    by: inTest(HAZELCAST, REPLACES),
  },
  'hazelcast: unsafe mode is taken for a CP Subsystem': {
    file: 'src/stores/hazelcast/client.ts',
    find: "if (group === 'default') return;",
    replace: 'if (group !== undefined) return;',
    why: 'a member that crashes takes locks along that are held',
    by: inTest(HAZELCAST, 'unsafe mode is refused before the first grant, unless it is accepted'),
  },
  'fenced lock: a session that was replaced counts as the one before': {
    file: 'src/stores/hazelcast/cp-session.ts',
    find: 'this.#fence = fence;\n        this.#epoch++;',
    replace: 'this.#fence = fence;\n        this.#epoch ||= 1;',
    why: 'a holder whose session has ended goes on beside the next one',
    by: inTest(
      'test/stores/hazelcast/fenced-lock.test.ts',
      'a lease whose session was closed is lost, and a new one is in a new session',
    ),
  },
};
