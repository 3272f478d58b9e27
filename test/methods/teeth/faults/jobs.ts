import type { Fault } from '../fault.ts';

const once = { file: 'src/jobs/once/once.ts' };
const records = { file: 'src/jobs/records.ts' };
const refresh = { file: 'src/jobs/refresh/refresh.ts' };
const queue = { file: 'src/queue/queue.ts' };

/** Work that is done once, and what one loads for all. */
export const JOB_FAULTS: readonly Fault[] = [
  {
    file: 'src/jobs/once/once.ts',
    name: 'whoever waited for the key does not look whether it is done',
    find: `    answer = await doneBefore<T>(engine, lock.resource);
    if (answer) return answer;
    const value`,
    replace: '    const value',
    why: 'the work is done once by each of those who came at the same time',
  },
  {
    ...once,
    name: 'a success that is on record is rejected when the lease ends after it',
    find: '    if (answer) return answer;\n    throw',
    replace: '    throw',
    why: 'the caller believes that it failed, and is told later that it was done',
  },
  {
    ...once,
    name: 'a result that cannot be kept leaves no record',
    find: '    await keepSurely(',
    replace: '    if (unfit) throw unfit;\n    await keepSurely(',
    why: 'the work is done again because of its result',
  },
  {
    ...once,
    name: 'who did the work and lost its lease is told only that',
    find: 'problem = unrecorded(lease, error);',
    replace: 'throw error;',
    why: 'a parcel that has left is taken for one that has not',
  },
  {
    file: 'src/jobs/once/once.ts',
    name: 'locks that are closed tell what is done',
    find: '  engine.checkOpen();\n  const known',
    replace: '  const known',
    why: 'what comes after close fails in another way on each store, or does not fail',
  },
  {
    ...once,
    name: 'the first caller gets what it answered, the others what JSON made of it',
    find: 'result: kept }, kept };',
    replace: 'result: kept }, kept: value };',
    why: 'a program works with a Date until the day that another one was first',
  },
  {
    file: 'src/jobs/records.ts',
    name: 'a record that was refused counts as written',
    find: 'if (await keep(engine, lease, keeping)) return;',
    replace: 'await keep(engine, lease, keeping);\n      return;',
    why: 'two attempts that overlap both succeed',
  },
  {
    ...records,
    name: 'a record whose answer was lost is not written again',
    find: 'if (!toStoreError(error).retryable) throw error;',
    replace: 'if (error) throw error;',
    why: 'work that is done and recorded is reported as failed',
  },
  {
    ...records,
    name: 'a record of another layout is read as if it were ours',
    find: 'if (found === LAYOUT) return',
    replace: 'if (found !== undefined) return',
    why: 'a newer version says something that this one takes for something else',
  },
  {
    ...refresh,
    name: 'whoever waited does not look whether the value is fresh',
    find: `    const fresh = await read();
    if (fresh !== undefined) return fresh;
    const shares`,
    replace: '    const shares',
    why: 'each process loads once more what the one before it has just loaded',
  },
  {
    ...refresh,
    name: 'a failure is not looked for',
    find: 'shares ? await this.#failureBefore(lease) : undefined;',
    replace: 'undefined as RefreshError | undefined;',
    why: 'each process makes the same failing request in turn',
  },
  {
    ...refresh,
    name: 'an attempt that nobody waits for any more takes others on',
    find: '    this.#parts.over();\n    this.#unwanted.abort();',
    replace: '    this.#unwanted.abort();',
    why: 'a caller is rejected because another one gave up',
  },
  {
    ...refresh,
    name: 'an attempt that nobody waits for stays in the queue',
    find: '    this.#unwanted.abort();',
    replace: '',
    why: 'processes load what nobody there wants',
  },
  {
    ...refresh,
    name: 'a load that hangs is waited for when its lease is lost',
    find: "lease.signal.addEventListener('abort', () => this.#end(lease.loss));",
    replace: '',
    why: 'one process never has a new value again, although the others load',
  },
  {
    ...refresh,
    name: 'those who may use the old value wait for the new one',
    find: '    if (usable !== undefined) return usable;\n    signal',
    replace: '    signal',
    why: 'a slow token server stops everybody although the old token is good',
  },
  {
    ...refresh,
    name: 'a refresh inside its own load waits for itself',
    find: 'lock.checkStranger();',
    replace: '',
    why: 'it hangs for ever',
  },
  {
    ...queue,
    name: 'memory keeps records for claims that are not held',
    find: 'if (holds) this.#remains.keep(',
    replace: 'this.#remains.keep(',
    why: 'a late attempt overwrites what its successor has recorded',
  },
];
