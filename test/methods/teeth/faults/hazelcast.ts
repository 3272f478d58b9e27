import type { Fault } from '../fault.ts';

const documents = { file: 'src/stores/hazelcast/documents.ts' };
const client = { file: 'src/stores/hazelcast/client.ts' };
const session = { file: 'src/stores/hazelcast/cp-session.ts' };
const claim = { file: 'src/stores/hazelcast/fenced-claim.ts' };

/** Atomic references as documents, and fenced locks that are shared with Java. */
export const HAZELCAST_FAULTS: readonly Fault[] = [
  {
    ...documents,
    name: 'hazelcast: the first write is compared with an object that says null',
    find: 'given === null ? null : toData(given)',
    replace: 'toData(given)',
    why: 'no lock is ever granted: a new reference is not equal to that object',
  },
  {
    ...documents,
    name: 'hazelcast: a refused write counts as written',
    find: "!== text) return 'other'",
    replace: "=== text) return 'other'",
    why: 'two hold the same lock: a write that was refused is taken for done',
  },
  {
    ...client,
    name: 'hazelcast: unsafe mode is taken for a CP Subsystem',
    find: "if (group === 'default') return;",
    replace: 'if (group !== undefined) return;',
    why: 'a member that crashes takes locks along that are held',
  },
  {
    ...session,
    name: 'fenced lock: a session that was replaced counts as the one before',
    find: 'this.#fence = fence;\n        this.#epoch++;',
    replace: 'this.#fence = fence;\n        this.#epoch ||= 1;',
    why: 'a holder whose session has ended goes on beside the next one',
  },
  {
    ...claim,
    name: 'fenced lock: a claim that gave up keeps what it gets',
    find: 'if (goesOn && this.#over === undefined)',
    replace: 'if (goesOn)',
    why: 'a lock that nobody has is never free again',
  },
  {
    ...claim,
    name: 'fenced lock: a claim that ends with its TTL keeps the lock',
    find: 'if (this.#hold) this.#giveBack(this.#hold.fence);\n    this.#end',
    replace: 'this.#end',
    why: 'a claim that nobody renews blocks all others for as long as its process lives',
  },
];
