import type { Fault } from '../fault.ts';

const decorator = { file: 'src/integrations/decorator/locked.ts' };
const module = { file: 'src/integrations/nestjs/holdfast-module.ts' };

/** Methods that are decorated, and the module of NestJS. */
export const NESTJS_FAULTS: readonly Fault[] = [
  {
    ...decorator,
    name: 'a locked method is called without its lock',
    find: "if (ifBusy === 'wait') return mutex.run(",
    replace: "if (ifBusy === 'wait') return (async (_, run) => run())(",
    why: 'two calls at a time change one thing',
  },
  {
    ...decorator,
    name: 'a locked method loses its object',
    find: 'promiseOf(method.apply(this, args), method)',
    replace: 'promiseOf(method.apply(undefined, args), method)',
    why: 'every method that uses its object fails',
  },
  {
    ...decorator,
    name: 'a locked call waits as long as its decorator says, whatever it says itself',
    find: 'return mutex.run({ ...defaults, ...said }, work)',
    replace: 'return mutex.run({ ...said, ...defaults }, work)',
    why: 'a call that is in a hurry waits for an hour',
  },
  {
    ...decorator,
    name: 'a locked method that may be skipped waits',
    find: "if (ifBusy === 'wait') return",
    replace: 'if (ifBusy) return',
    why: 'each machine makes the report, one after the other',
  },
  {
    ...decorator,
    name: 'a locked method need not return a promise',
    find: "?.then === 'function') {",
    replace: '?.then !== null) {',
    why: 'a generator or a stream goes on without the lock, and nobody is told',
  },
  {
    ...decorator,
    name: 'a getter can be locked',
    find: "if (second.kind === 'method') return",
    replace: "if (second.kind !== 'class') return",
    why: 'a getter that answered a value answers a promise',
  },
  {
    ...decorator,
    name: 'what other decorators have put on a method is lost when it is locked',
    find: 'metadata.getOwnMetadataKeys?.(method) ?? []',
    replace: '[]',
    why: 'a route of NestJS is not found any more',
  },
  {
    file: 'src/primitives/reentrancy.ts',
    name: 'what is left behind finds the lease that was released',
    find: 'while (frame && !frame.open) frame = frame.parent;',
    replace: '',
    why: 'a timer that fires after the work writes with the token of a lease that has ended',
  },
  {
    ...module,
    name: 'locks close before the server of NestJS does',
    find: 'onApplicationShutdown: () =>',
    replace: 'beforeApplicationShutdown: () =>',
    why: 'requests that are still taken in are refused',
  },
  {
    ...module,
    name: 'the module of NestJS forgets its drain',
    find: 'drain === undefined ? {} : { drain }',
    replace: '{}',
    why: 'work that may take minutes is told to stop after ten seconds',
  },
  {
    ...module,
    name: 'the module of NestJS is never global',
    find: 'global: isGlobal,',
    replace: 'global: false,',
    why: 'an application that relies on it does not start',
  },
  {
    ...module,
    name: 'named locks of NestJS are those without a name',
    find: 'return name === undefined ? Locks',
    replace: 'return name !== null ? Locks',
    why: 'an application with two stores locks in the wrong one',
  },
  {
    file: 'src/integrations/nestjs/locks-health-indicator.ts',
    name: 'a health check waits for the store',
    find: 'return await Promise.race([this.#look(), late]);',
    replace: 'return await this.#look();',
    why: 'the check of a machine whose store hangs is late, and the machine is ended',
  },
];
