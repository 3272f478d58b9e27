/** What a client writes down, as it happens, so that whoever kills it loses nothing. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { machineMs } from '../processes/children/talk.ts';
import type { CounterInput, CounterOutput, LockOutput } from './models.ts';

/** An operation is named by a number; its call is written before it, its result after. */
export type Entry =
  | { readonly call: number; readonly at: number; readonly resource: string; readonly what: What }
  | { readonly result: number; readonly at: number; readonly output: LockOutput | CounterOutput }
  /** The lease that this request was granted said at this time that it is held. */
  | { readonly held: number; readonly at: number };

export interface Request {
  readonly verb: 'acquire' | 'try';
  readonly permits: number;
  readonly limit: number;
}

/** `of` is the request that the hold came from. */
export type What = Request | { readonly verb: 'release'; readonly of: number } | CounterInput;

export class Log {
  readonly #file: number;
  #calls = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  call(resource: string, what: What): number {
    const call = this.#calls++;
    this.#write({ call, at: machineMs(), resource, what });
    return call;
  }

  result(call: number, output: LockOutput | CounterOutput): void {
    this.#write({ result: call, at: machineMs(), output });
  }

  held(call: number, at: number): void {
    this.#write({ held: call, at });
  }

  close(): void {
    closeSync(this.#file);
  }

  /** One synchronous write a line: it is in the kernel before anything else happens. */
  #write(entry: Entry): void {
    const text = (_: string, value: unknown): unknown =>
      typeof value === 'bigint' ? `${value}n` : value;
    writeSync(this.#file, `${JSON.stringify(entry, text)}\n`);
  }
}

/** A last line that was cut off did not happen. */
export function readLog(path: string): Entry[] {
  const number = (_: string, value: unknown): unknown =>
    typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line, number) as Entry);
}
