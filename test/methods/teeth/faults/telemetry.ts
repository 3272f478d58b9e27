import type { Fault } from '../fault.ts';

const recorder = { file: 'src/integrations/opentelemetry/recorder.ts' };
const telling = { file: 'src/primitives/acquisition-events.ts' };

/** What listeners are told, and what telemetry makes of it. */
export const TELEMETRY_FAULTS: readonly Fault[] = [
  {
    file: 'src/store-calls/waiting.ts',
    name: 'a quarantine looks as if another held the lock',
    find: "if (leftMs !== undefined) why = 'data-loss';",
    replace: '',
    why: 'a night is skipped, and nothing says why',
  },
  {
    file: 'src/core/slow-waits.ts',
    name: 'a wait that never ends is not warned of',
    find: 'void waiter?.warn();',
    replace: 'void waiter;',
    why: 'a task that waits for itself hangs without a word',
  },
  {
    file: 'src/core/slow-waits.ts',
    name: 'brief waits hide one that never ends',
    find: 'return [line[0], line.at(-1)];',
    replace: 'return [line.at(-1)];',
    why: 'a task waits for itself without a word, while others try and give up',
  },
  {
    file: 'src/core/claim/live-claim.ts',
    name: 'a wait for a store without its memory is silent',
    find: 'warnOfQuarantine(this.services, status.retryInMs);',
    replace: '',
    why: 'the first program on a new server stands still for half a minute without a word',
  },
  {
    file: 'src/base/event-loop.ts',
    name: 'there is never time again to note a call site',
    find: 'if (this.#spentUntil > now) return false;',
    replace: 'if (this.#spentUntil > -1) return false;',
    why: 'where many wait for a lock that hangs, no error says where it was asked for',
  },
  {
    file: 'src/core/waiter.ts',
    name: 'a time-out has the stack of a timer',
    find: 'if (stack !== undefined) error.stack',
    replace: "if (stack === '') error.stack",
    why: 'the log does not say which lock ran out',
  },
  {
    file: 'src/base/clock.ts',
    name: 'the clock takes whatever immediate there is',
    find: 'setImmediate: (run) => void timers.setImmediate(run),',
    replace: 'setImmediate: (run) => void setImmediate(run),',
    why: 'a test with fake timers hangs at its second lock',
  },
  {
    file: 'src/core/lease.ts',
    name: 'a lease forgets which acquisition it came of',
    find: '    this.#acquisition = acquisition;\n',
    replace: '    void acquisition;\n',
    why: 'waits end nowhere, and holds begin nowhere',
  },
  {
    file: 'src/core/events.ts',
    name: 'subscribers of the channels are not asked for',
    find: 'return this.listeners.size > 0 || this.channel.hasSubscribers;',
    replace: 'return this.listeners.size > 0;',
    why: 'whoever listens to the whole process hears nothing',
  },
  {
    file: 'src/primitives/lock.ts',
    name: 'a wait is told of after the first turn of the loop',
    find: 'return withEvents(events, { acquisition, waits, options, take });',
    replace: `return new Promise((resolve, reject) =>
      setImmediate(() => {
        withEvents(events, { acquisition, waits, options, take }).then(resolve, reject);
      }),
    );`,
    why: 'a lock that is asked for last may be taken first',
  },
  {
    ...telling,
    name: 'a listener may run the work twice',
    find: 'if (outcome) return;',
    replace: '',
    why: 'one invoice is charged twice',
  },
  {
    ...telling,
    name: 'a listener may leave the work out',
    find: '  once();\n  const { value',
    replace: '  const { value',
    why: 'a telemetry that fails keeps the work from being done',
  },
  {
    ...telling,
    name: 'a wait that was called off counts as failed',
    find: "return 'aborted';",
    replace: "return 'failed';",
    why: 'every request that a user cancels is an error in the traces',
  },
  {
    file: 'src/core/lease.ts',
    name: 'every grant by the store is a hand-off',
    find: "return this.#grant.queued && given ? 'remote' : undefined;",
    replace: "return given ? 'remote' : undefined;",
    why: 'locks that nobody else wants look contended',
  },
  {
    file: 'src/core/claim/live-claim.ts',
    name: 'a quarantine counts as a wait for somebody',
    find: "const queued = status?.why === 'queue' ||",
    replace: 'const queued = status !== undefined ||',
    why: 'a restart of the store looks like a thousand hand-offs',
  },
  {
    file: 'src/core/events.ts',
    name: 'claims that a heartbeat did not keep alive are not counted',
    find: 'const failed = error ? claims : results',
    replace: 'const failed = error ? 0 : results',
    why: 'a store that is gone looks well until leases are lost',
  },
  {
    ...recorder,
    name: 'the hold belongs to whoever released the lock before',
    find: 'course.span = spans?.hold(course, acquired);',
    replace: `const caller = this.#parts.api.context.active();
    course.span = spans?.hold({ ...course, caller }, acquired);`,
    why: 'work appears in the trace of a stranger',
  },
  {
    ...recorder,
    name: 'whoever gives up is counted as waiting for ever',
    find: `    this.#courses.delete(missed.acquisition);
    if (course.waits) measures?.waits(course, -1);`,
    replace: '    this.#courses.delete(missed.acquisition);',
    why: 'an alert on waiters never ends',
  },
  {
    ...recorder,
    name: 'what is open when it is stopped stays open',
    find: 'course.span?.end();\n      if (course.held)',
    replace: 'if (course.held)',
    why: 'the spans of a program that ends are never seen',
  },
  {
    file: 'src/integrations/opentelemetry/attributes.ts',
    name: 'resources are named unasked',
    find: 'return name === undefined ? known',
    replace: "return name === undefined ? { ...known, 'holdfast.lock.name': resource }",
    why: 'each id is a time series for ever, and names of people go out',
  },
  {
    file: 'src/integrations/opentelemetry/spans.ts',
    name: 'messages of errors name the resource unasked',
    find: 'if (this.#resources && isError(error))',
    replace: 'if (isError(error))',
    why: 'names of people go to whoever reads traces',
  },
  {
    ...recorder,
    name: 'a quarantine is not counted',
    find: "listen('quarantine', (event) => measures.putOff(event)),",
    replace: '',
    why: 'no alert says that the store grants nothing',
  },
];
