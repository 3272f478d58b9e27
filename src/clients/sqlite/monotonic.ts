/**
 * The kernel's monotonic clock, in µs: the same reading in every process of the machine.
 *
 * In Node, `process.hrtime` is that clock. In Bun and Deno it begins with the process, so two of
 * them would take each other's claims for dead, and both would be granted one lock. There this file
 * asks the kernel through the C library, which returns what Node reads: processes of all three may
 * share a file. Where that is impossible, the store grants nothing.
 * What would break it: another clock of the kernel, such as the one that counts suspended time.
 */
import { permanentFailure, type StoreError } from '../../contract/errors.ts';

interface CLibrary {
  readonly symbols: { clock_gettime(clock: number, timespec: BigInt64Array): number };
}

export type LoadLibrary = () => CLibrary | undefined;

/** As it is when this loads: fake timers would begin it anew. */
const { bigint: hrtime } = process.hrtime;

/** On Linux with glibc. */
const LIBRARY = 'libc.so.6';
const CLOCK_MONOTONIC = 1;

/** The reading throws StoreError where there is no such clock. */
export function monotonicClock(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
  load: LoadLibrary = loadLibrary,
): () => number {
  const runtime = versions.bun ? 'Bun' : versions.deno ? 'Deno' : undefined;
  if (!runtime) return () => Number(hrtime() / 1000n);
  let library: CLibrary | undefined;
  const timespec = new BigInt64Array(2);
  return () => {
    library ??= required(runtime, load);
    if (library.symbols.clock_gettime(CLOCK_MONOTONIC, timespec) !== 0) throw refusal(runtime);
    const [seconds = 0n, nanoseconds = 0n] = timespec;
    return Number(seconds * 1_000_000n + nanoseconds / 1000n);
  };
}

function required(runtime: string, load: LoadLibrary): CLibrary {
  let cause: unknown;
  try {
    const library = load();
    if (library) return library;
  } catch (error) {
    cause = error;
  }
  throw refusal(runtime, cause);
}

function refusal(runtime: string, cause?: unknown): StoreError {
  const deno = runtime === 'Deno' ? ' and --allow-all' : '';
  return permanentFailure(
    `${runtime} has no clock that all processes of a machine share, and the kernel's cannot be` +
      ` read, which needs Linux with glibc${deno}. Without it, two processes could hold the same` +
      ' lock. Use Node, or memoryStore() for locks inside this process.',
    cause,
  );
}

function loadLibrary(): CLibrary | undefined {
  if (process.platform !== 'linux') return undefined;
  const bun = process.getBuiltinModule('bun:ffi') as Ffi | undefined;
  if (bun) return bun.dlopen(LIBRARY, { clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' } });
  const { Deno: deno } = globalThis as { readonly Deno?: Ffi };
  return deno?.dlopen(LIBRARY, { clock_gettime: { parameters: ['i32', 'buffer'], result: 'i32' } });
}

interface Ffi {
  dlopen(name: string, symbols: object): CLibrary;
}
