import type { Fault } from '../fault.ts';

const elect = { file: 'src/cli/verbs/elect.ts' };
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
    file: 'src/cli/verbs/doctor.ts',
    name: 'the doctor takes a slow reply for a wrong clock',
    find: 'off - withinMs < SKEW_MS',
    replace: 'off < SKEW_MS',
    why: 'an operator sets a clock that was right',
  },
  {
    file: 'src/cli/verbs/doctor.ts',
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
