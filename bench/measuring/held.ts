/** So many leases of one process, through one heartbeat: what they cost both sides. */
import type { Lease } from 'holdfast';
import { subjectAt } from '../stores/index.ts';
import { locksAt } from '../stores/ours.ts';
import { sleep } from './processes.ts';
import { socketBytes } from './sockets.ts';
import { difference, type Place, TTL_MS } from './subject.ts';

const INTERVAL_MS = TTL_MS / 3;

/** What could not be measured is not a finite number. */
interface Held {
  /** At the heartbeat, and what went over the wire for it. */
  readonly asked: number;
  readonly wireBytes: number;
  /** Of a lease: the server's CPU at the heartbeat, and the memory of both sides. */
  readonly serverMicros: number;
  readonly serverBytes: number;
  readonly bytes: number;
}

export async function holdLeases(place: Place, count: number): Promise<Held> {
  const { asks, observe } = await subjectAt(place.url);
  const observer = await observe(place);
  const locks = await locksAt(place.url);
  // What the first claims build once is not the memory of a lease.
  const names = Array.from({ length: count }, (_, n) => `lease:${n}`);
  await Promise.all(names.slice(0, 200).map((name) => locks.mutex(name).run(() => {})));
  const [empty, data] = [memory(), (await observer.bytes?.()) ?? Number.NaN];
  const leases: Lease[] = await Promise.all(names.map((name) => locks.mutex(name).acquire()));
  const bytes = (memory() - empty) / count;
  const serverBytes = (((await observer.bytes?.()) ?? Number.NaN) - data) / count;

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
  await observer.close();
  const serverMicros = (work['server CPU µs'] ?? Number.NaN) / count;
  return { asked: work[asks] ?? Number.NaN, wireBytes, serverMicros, serverBytes, bytes };
}

/** What is alive, in bytes, in and beside the JavaScript heap. */
function memory(): number {
  if (!globalThis.gc) throw new Error('This figure needs node --expose-gc.');
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
