import type { Store } from 'holdfast';
import { aroundStore, type SimulatedClock } from 'holdfast/testkit';

/**
 * Lets time stand still while a verb is under way: for stores whose work is real, such as a request
 * or the opening of a file, while lives count on a simulated clock. Returns what connects.
 */
export function standing(clock: SimulatedClock): (store: Store) => Store {
  let underWay = 0;
  let stands = false;
  const stand = (): void => {
    stands = underWay > 0;
    if (stands) clock.setImmediate(stand);
  };
  return (store) =>
    aroundStore(store, async (_, next) => {
      underWay++;
      if (!stands) stand();
      try {
        return await next();
      } finally {
        underWay--;
      }
    });
}
