import type { Fault } from '../fault.ts';

const document = { file: 'src/stores/document/document.ts' };
const life = { file: 'src/stores/document/life.ts' };
const asks = { file: 'src/stores/document/asks.ts' };
const store = { file: 'src/stores/document/document-store.ts' };
const text = { file: 'src/stores/document/text.ts' };
const service = { file: 'src/stores/document/service.ts' };

/** A queue in a text that is compared and set. */
export const DOCUMENT_FAULTS: readonly Fault[] = [
  {
    ...document,
    name: 'documents: what is remembered counts as read',
    find: 'this.#known = { text: draft.text, version, upTo: 0 };',
    replace: 'this.#known = { text: draft.text, version, upTo: 1e9 };',
    why: 'a try is refused because of a holder that has left',
  },
  {
    ...document,
    name: 'documents: a write without a reply counts as refused',
    find: 'if (doubtful && written.write === doubtful.write) {',
    replace: 'if (doubtful && written.queue === doubtful.queue) {',
    why: 'each lost reply costs a second write',
  },
  {
    ...document,
    name: 'documents: nothing is remembered',
    find: 'if (version !== undefined) this.#known =',
    replace: 'if (version === undefined) this.#known =',
    why: 'each claim and release reads first',
  },
  {
    ...document,
    name: 'documents: a loss is not noticed',
    find: 'if (!ids.has(id)) this.#lost.add(id);',
    replace: '',
    why: 'a holder is told that it was late, when the document was deleted',
  },
  {
    ...document,
    name: 'documents: numbers begin anew after a loss',
    find: 'return { now, number: number > this.#last ? number : this.#last + 1n };',
    replace: 'return { now, number };',
    why: 'a fence refuses the next holder',
  },
  {
    ...document,
    name: 'documents: idle ones are removed without a common clock',
    find: "version === undefined || life.clock !== 'service') return;",
    replace: 'version === undefined) return;',
    why: 'tokens go back where the clocks of processes differ',
  },
  {
    ...asks,
    name: 'documents: a release whose reply was lost was none',
    find: 'if (ask.lasts && answers[i] === true) ask.done = true;',
    replace: '',
    why: 'the caller is told that its lock was lost before',
  },
  {
    ...asks,
    name: 'documents: an outcome in doubt is a failure',
    find: 'reject(doubtful ? unsure : error);',
    replace: 'reject(error);',
    why: 'a claim that may be in the queue is not released',
  },
  {
    ...service,
    name: 'documents: a lost reply is an error at once',
    find: "return 'unknown';",
    replace: 'throw error;',
    why: 'each lost reply fails the heartbeats of a resource',
  },
  {
    ...service,
    name: 'documents: a client may be silent for ever',
    find: 'const timer = this.#clock.setTimeout(late, limitMs);',
    replace: 'const timer = this.#clock.setTimeout(late, 1e9);',
    why: 'one connection that hangs blocks a resource in a process',
  },
  {
    ...text,
    name: 'documents: the clock of a text is not looked at',
    find: 'if (clock !== heading.clock) {',
    replace: 'if (clock === heading.resource) {',
    why: 'two programs that go by different clocks both hold a lock',
  },
  {
    ...text,
    name: 'documents: a foreign text is taken for an empty queue',
    find: 'resource !== heading.resource) {',
    replace: "resource !== heading.resource) {\n    return { queue: new ClaimQueue(), write: '' };",
    why: "another program's data are overwritten",
  },
  {
    ...life,
    name: 'documents: a dead claim is buried at first sight',
    find: 'entry.expiresAt = known ?? now + entry.lifeMs * (1 + DRIFT);',
    replace: 'entry.expiresAt = known ?? now;',
    why: 'two hold the lock as soon as a process comes along',
  },
  {
    ...life,
    name: 'documents: the rates of clocks are not allowed for',
    find: 'entry.expiresAt = known ?? now + entry.lifeMs * (1 + DRIFT);',
    replace: 'entry.expiresAt = known ?? now + entry.lifeMs;',
    why: 'a holder with a slow clock still works when the next one begins',
  },
  {
    ...store,
    name: 'documents: a loss is told as lateness',
    find: 'return expired && document.hasLost(id) ?',
    replace: 'return expired && id === resource ?',
    why: 'the loss of the data of a service looks like lateness',
  },
];
