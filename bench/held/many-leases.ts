/** What a process costs that holds more and more leases, through one heartbeat, on each store. */
import { setTimeout as sleep } from 'node:timers/promises';
import { report } from '../measuring/result.ts';
import { socketBytes } from '../measuring/sockets.ts';
import { difference, type Place, TTL_MS } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';
import { locksAt } from '../stores/ours.ts';

const COUNTS = [10, 1_000, 10_000];
/** With fewer, a lease is less than what else goes on. */
const LEAST = 1_000;
const INTERVAL_MS = TTL_MS / 3;

export async function measure(places: readonly Place[]): Promise<void> {
  for (const place of places) for (const count of COUNTS) await holdLeases(place, count);
}

async function holdLeases(place: Place, count: number): Promise<void> {
  const { name, asks, observe } = await subjectAt(place.url);
  const observer = await observe(place);
  const locks = await locksAt(place.url);
  const stored = async (): Promise<number> => (await observer.bytes?.()) ?? Number.NaN;
  // What the first claims build once is not the memory of a lease.
  const names = Array.from({ length: count }, (_, n) => `lease:${n}`);
  await Promise.all(names.slice(0, 200).map((each) => locks.mutex(each).run(() => {})));
  const [empty, data] = [memory(), await stored()];
  const leases = await Promise.all(names.map((each) => locks.mutex(each).acquire()));
  const bytes = (memory() - empty) / count;
  const serverBytes = ((await stored()) - data) / count;

  // From the middle between two heartbeats to the next middle.
  await sleep(INTERVAL_MS / 2);
  const [before, wire] = [await observer.work(), socketBytes()];
  await sleep(INTERVAL_MS);
  const wireBytes = socketBytes() - wire;
  const work = difference(await observer.work(), before);
  const held = leases.filter((lease) => lease.held).length;
  if (held !== count) throw new Error(`${count - held} of ${count} leases were lost.`);
  await Promise.all(leases.map((lease) => lease.release()));
  await locks.close();
  await observer.close?.();
  report({
    what: `${name}, ${count.toLocaleString('en')} leases`,
    measured: {
      'requests a heartbeat': work[asks] ?? Number.NaN,
      'bytes a lease': wireBytes / count,
      ...(count >= LEAST && {
        'server CPU µs a lease': (work['server CPU µs'] ?? Number.NaN) / count,
        'server memory, bytes a lease': serverBytes,
        'process memory, bytes a lease': bytes,
      }),
    },
  });
}

/** What is alive, in bytes, in and beside the JavaScript heap. */
function memory(): number {
  if (!globalThis.gc) throw new Error('This figure needs node --expose-gc.');
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
