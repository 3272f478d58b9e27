/**
 * From the logs of processes to operations that a model can judge.
 *
 * What a log does not tell is left open: a call without a result may have happened at any time, or
 * not; a hold whose release is not known to have been answered ends at any time after its lease
 * was last seen held. One thing no log tells: a process that stood still for a good part of a TTL
 * may have been granted a claim that it threw away, as too old to be worth anything, before it
 * asked again. So a request that took that long is accompanied by one of unknown outcome.
 */
import { type Entry, type Request, readLog, type What } from './log.ts';
import type {
  CounterInput,
  CounterOperation,
  CounterOutput,
  LockOperation,
  LockOutput,
} from './models.ts';

export interface History {
  readonly lock: readonly LockOperation[];
  readonly counter: readonly CounterOperation[];
}

interface Call {
  readonly process: string;
  readonly resource: string;
  readonly what: What;
  readonly calledAt: number;
  readonly returnedAt?: number;
  readonly output?: LockOutput | CounterOutput;
  /** Of a request: when its lease was last seen held. */
  readonly heldAt?: number;
  /** Of a request: when it is known that its claim was gone. */
  readonly releasedAt?: number | undefined;
}

/** @param logs paths, by the name of the process. */
export function historyOf(logs: ReadonlyMap<string, string>, ttl: number): History {
  const calls = [...logs].flatMap(([process, path]) => [...callsOf(process, readLog(path))]);
  return {
    lock: calls.flatMap((call) => (isRequest(call.what) ? holdOf(call, call.what, ttl) : [])),
    counter: calls.filter(({ what }) => !isRequest(what) && what.verb !== 'release').map(countOf),
  };
}

function callsOf(process: string, entries: readonly Entry[]): Iterable<Call> {
  const calls = new Map<number, Call>();
  const add = (number: number, more: Partial<Call>): void => {
    calls.set(number, { ...(calls.get(number) as Call), ...more });
  };
  for (const entry of entries) {
    if ('call' in entry) {
      const { call, at: calledAt, resource, what } = entry;
      calls.set(call, { process, resource, what, calledAt });
    } else if ('held' in entry) add(entry.held, { heldAt: entry.at });
    else add(entry.result, { returnedAt: entry.at, output: entry.output });
  }
  for (const { what, returnedAt: releasedAt } of calls.values()) {
    if (what.verb === 'release') add(what.of, { releasedAt });
  }
  return calls.values();
}

function isRequest(what: What): what is Request {
  return what.verb === 'acquire' || what.verb === 'try';
}

function holdOf(call: Call, request: Request, ttl: number): LockOperation[] {
  const { process, resource, calledAt, returnedAt, output, heldAt = calledAt, releasedAt } = call;
  const holder = `${process} ${calledAt}`;
  const operations: LockOperation[] = [];
  if (typeof output === 'bigint' || output === false) {
    const input = { ...request, holder };
    operations.push({ process, resource, calledAt, returnedAt, input, output });
  }
  if (typeof output === 'bigint') {
    const end = { calledAt: heldAt, returnedAt: releasedAt };
    operations.push({ process, resource, ...end, input: { verb: 'release', holder } });
  }
  if (returnedAt !== undefined && returnedAt - calledAt < ttl / 2) return operations;
  const lost = `somebody with ${request.permits} of ${request.limit}`;
  return [
    ...operations,
    { process, resource, calledAt, input: { ...request, holder: lost } },
    { process, resource, calledAt, input: { verb: 'release', holder: lost } },
  ];
}

function countOf({
  process,
  resource,
  calledAt,
  returnedAt,
  what,
  output,
}: Call): CounterOperation {
  const times = { process, resource, calledAt, returnedAt };
  return { ...times, input: what as CounterInput, output: output as CounterOutput | undefined };
}
