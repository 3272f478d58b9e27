import type { Fault } from '../fault.ts';

const elect = { file: 'src/cli/verbs/elect.ts' };
const doctor = { file: 'src/cli/verbs/doctor.ts' };
const objects = { file: 'src/stores/objects/facts.ts' };
const bash = { file: 'src/cli/completion/bash.ts' };
const view = { file: 'src/cli/top/view.ts' };

/** What the command line does, and what locks do in tests of apps. */
export const COMMAND_LINE_FAULTS: readonly Fault[] = [
  {
    ...elect,
    name: 'a candidate of the shell resigns under its running command',
    find: 'if (!leads) void candidate.resign();',
    replace: 'void candidate.resign();',
    why: 'a signal to the leader lets the next one begin while its command still runs',
  },
  {
    ...elect,
    name: 'a candidate of the shell does not stand again',
    find: 'if (ending && (!lease.loss || signal.aborted)) return ending;',
    replace: 'if (ending) return ending;',
    why: 'after every leader has lost its seat once, nobody leads',
  },
  {
    ...elect,
    name: 'a candidate of the shell that was told to end stands again',
    find: '(!lease.loss || signal.aborted)',
    replace: '!lease.loss',
    why: 'a service that is being stopped begins another term',
  },
  {
    ...bash,
    name: 'bash is given names as they are',
    find: 'printf -v word %q',
    replace: 'printf -v word %s',
    why: 'a name that is completed runs as a command',
  },
  {
    ...bash,
    name: 'bash puts a whole name behind its own colon',
    find: ' && broken=',
    replace: ' && : broken=',
    why: 'invoice:7 is completed to invoice:invoice:7',
  },
  {
    ...view,
    name: 'top evicts the first claim, whichever is selected',
    find: 'membersOf(queue)[selected(view, queues)]',
    replace: 'membersOf(queue)[0]',
    why: 'another holder loses the lock',
  },
  {
    ...view,
    name: 'top evicts without the name',
    find: 'if (text === eviction.name) return',
    replace: "if (text !== '?') return",
    why: 'two presses of Enter take a lock away',
  },
  {
    file: 'src/cli/under-lock.ts',
    name: 'a command runs after the signal to end',
    find: '        signal.throwIfAborted();\n',
    replace: '',
    why: 'what was told to end begins its work',
  },
  {
    ...doctor,
    name: 'the doctor takes a slow reply for a wrong clock',
    find: 'off - withinMs < SKEW_MS',
    replace: 'off < SKEW_MS',
    why: 'an operator sets a clock that was right',
  },
  {
    ...doctor,
    name: 'the doctor blames a store for the lock of another doctor',
    find: "why === 'held'",
    replace: "why === 'limit'",
    why: 'an operator looks for what is wrong with a store that is well',
  },
  {
    ...doctor,
    name: 'the doctor lets a server give orders to a terminal',
    find: 'about, plain(says)]',
    replace: 'about, says]',
    why: 'a page of a proxy clears the screen, or writes lines of its own',
  },
  {
    file: 'src/clients/facts/server-facts.ts',
    name: 'the doctor prints all that a server says',
    find: '.slice(0, REASON)',
    replace: '',
    why: 'the page of a proxy pushes all findings off the screen',
  },
  {
    file: 'src/clients/facts/zookeeper-facts.ts',
    name: 'the doctor asks the first server alone for its version',
    find: 'Promise.any(asked)',
    replace: 'Promise.any(asked.slice(0, 1))',
    why: 'one server that is down hides the version of all',
  },
  {
    ...objects,
    name: 'the doctor blames a service of objects for what another doctor writes',
    find: 'tries === PROBES',
    replace: 'tries > 0',
    why: 'two doctors at once, and a service that is sound is said to keep no locks',
  },
  {
    ...objects,
    name: 'the doctor takes a service that it could not try for one that compares',
    find: 'return [UNTRIED + reasonOf(error)]',
    replace: 'return []',
    why: 'a service that ignores conditions is found sound, because a policy forbade to try it',
  },
  {
    file: 'src/stores/dynamodb/facts.ts',
    name: 'the doctor gives up on a table that it may not describe',
    find: 'describe(client, table).catch(reasonOf)',
    replace: 'describe(client, table)',
    why: 'nobody hears that the clock of the service and that of the machine differ',
  },
  {
    ...doctor,
    name: 'the doctor takes a clock that counts seconds for an exact one',
    find: "withinMs < COARSE_MS ? ''",
    replace: "withinMs > 0 ? ''",
    why: 'a difference of half a second is told where there is none',
  },
  {
    file: 'src/stores/dynamodb/facts.ts',
    name: 'the doctor takes every replicated table for a consistent one',
    find: "Replicas.length === 0 || MultiRegionConsistency === 'STRONG'",
    replace: 'Replicas.length >= 0',
    why: 'each Region grants the same lock, and nothing says so',
  },
  {
    file: 'src/clients/sqlite/monotonic.ts',
    name: "the clock of a file is a test's fake one",
    find: 'Number(hrtime() / 1000n)',
    replace: 'Number(process.hrtime.bigint() / 1000n)',
    why: 'a test with fake timers hangs, or ends the claims of all others',
  },
  {
    file: 'src/store-calls/batcher.ts',
    name: "requests leave in a test's fake microtasks",
    find: 'timers.queueMicrotask(this.#go)',
    replace: 'queueMicrotask(this.#go)',
    why: 'a test with fake timers of Jest hangs at its first lock',
  },
  {
    file: 'src/core/waiter.ts',
    name: 'a wait that has ended meanwhile is warned of',
    find: 'if (this.settled) {\n',
    replace: 'if (this.settled && warned.size < 0) {\n',
    why: 'a log says that a lock hangs which has just been granted',
  },
];
