/** What a process costs that holds more and more leases, on each store. */
import { holdLeases } from '../measuring/held.ts';
import { report } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const COUNTS = [10, 1_000, 10_000];
/** With fewer, a lease is less than what else goes on. */
const LEAST = 1_000;

export async function measure(places: readonly Place[]): Promise<void> {
  for (const place of places) {
    const { name } = await subjectAt(place.url);
    for (const count of COUNTS) {
      const held = await holdLeases(place, count);
      report({
        what: `${name}, ${count.toLocaleString('en')} leases`,
        measured: {
          'requests a heartbeat': held.asked,
          'bytes a lease': held.wireBytes / count,
          ...(count >= LEAST && {
            'server CPU µs a lease': held.serverMicros,
            'server memory, bytes a lease': held.serverBytes,
            'process memory, bytes a lease': held.bytes,
          }),
        },
      });
    }
  }
}
