import { memoryStore } from 'holdfast/memory';
import { quorum } from 'holdfast/quorum';
import {
  aroundStore,
  chaosStore,
  countingStore,
  faultyStore,
  simulatedClock,
} from 'holdfast/testkit';
import { expect, it } from 'vitest';

it('a layer passes on no verb that it does not know: core would go around the layer', () => {
  const clock = simulatedClock();
  const knowing = () => Object.assign(memoryStore({ clock }), { quick: () => {} });
  const layers = [
    aroundStore(knowing(), (_, next) => next()),
    countingStore(knowing()),
    faultyStore(knowing(), clock),
    chaosStore(knowing(), { clock }),
    quorum([knowing(), knowing(), knowing()], { clock }),
  ];
  for (const layer of layers) expect('quick' in layer).toBe(false);
});
