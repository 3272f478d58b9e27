/** Takes a mutex and keeps it, in one of several ways, until it is lost or the test says enough. */
import { createLocks, type IfBusy } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { Fenced } from '../../faults/fenced.ts';
import { given, hear, machineMs, type OnStore, sleep, tell } from './talk.ts';

export interface HolderOptions extends OnStore {
  /** The guarded database is beside it. */
  readonly file: string;
  /**
   * `watch`: looks at the lease every millisecond. `block`: looks without letting the event loop
   * turn. `stop`: stops itself between its check and its write.
   */
  readonly how: 'watch' | 'block' | 'stop';
  /** Default: it replaces nobody, and nobody replaces it. */
  readonly ifBusy?: IfBusy;
  /** Its `Date` is wrong by so much; default 0. */
  readonly clockOffMs?: number;
}

/** What the holder found when its lease was no longer held. */
export interface Found {
  readonly type: 'lost';
  /** The last time at which the lease said that it is held. */
  readonly lastHeldAt: number;
  readonly aborted: boolean;
  readonly reason: string | undefined;
  readonly state: string;
  /** What became of the write that came too late. */
  readonly write: string;
}

const { store, file, ttl, how, ifBusy, clockOffMs = 0 } = given<HolderOptions>();
shiftDate(clockOffMs);
const locks = createLocks(await openStore(store), { ttl });
const lease = await locks.mutex('mutex').acquire({ ifBusy });
const { signal, token } = lease;
let lastHeldAt = machineMs();
await tell({ type: 'held', token, at: lastHeldAt });

if (how === 'watch') while (look()) await sleep(1);
if (how === 'block') while (look()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
if (how === 'stop') {
  look();
  lease.assertHeld();
  process.kill(process.pid, 'SIGSTOP');
}
const fenced = new Fenced(`${file}.data`);
const write = fenced.write(lease, 'the stale holder');
fenced.close();
const { held, state, loss } = lease;
// A look calls nobody: what it has found is told in the next microtask.
await Promise.resolve();
const found: Found = {
  ...{ type: 'lost', lastHeldAt, aborted: signal.aborted, reason: loss?.reason },
  ...{ state: held ? 'held' : state, write },
};
await tell(found);
await hear();
await locks.close();
process.disconnect();

/** The time is read first, so that the lease was held at that time at least. */
function look(): boolean {
  const at = machineMs();
  if (!lease.held) return false;
  lastHeldAt = at;
  return true;
}

function shiftDate(ms: number): void {
  const real = Date;
  const now = (): number => real.now() + ms;
  globalThis.Date = new Proxy(real, {
    construct: (_, args: unknown[]) => Reflect.construct(real, args.length > 0 ? args : [now()]),
    get: (_, key) => (key === 'now' ? now : Reflect.get(real, key)),
  });
}
