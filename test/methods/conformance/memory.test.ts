import { memoryStore } from 'holdfast/memory';
import { simulatedSuite } from './suite.ts';

simulatedSuite({
  open(clock, options) {
    const store = memoryStore({ clock, ...options });
    return { connect: () => store, forget: () => store.forget() };
  },
  traits: memoryStore().traits,
  forgets: true,
  allKinds: true,
});
