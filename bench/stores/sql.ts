/** What figures of both databases need to know of them. */

import type { Protocol } from '../measuring/round-trips.ts';
import type { Observer, Place, Subject, Work } from '../measuring/subject.ts';

export interface SqlObserver extends Observer {
  /** What else the server counts, by the columns of the table. */
  facts(): Promise<Work>;
  /** Sessions of others. */
  others(): Promise<number>;
  /** Of the tables of the store. */
  sizes(): Promise<Work>;
  /** Takes away what is dead. */
  tidy(): Promise<unknown>;
}

export interface SqlSubject extends Subject {
  readonly protocol: Protocol;
  observe(place: Place): Promise<SqlObserver>;
}

type Common = Pick<Subject, 'pairs' | 'goals' | 'asks' | 'crowd' | 'waiters' | 'leases'>;

/** What both have in common. */
export const SQL: Common = {
  // So many that the first round, which does not count, is long enough to compile JavaScript.
  pairs: [1_500, 1_920],
  goals: [0.8, 4],
  asks: 'statements',
  crowd: { ratio: 1.5, asks: 2.5 },
  waiters: {
    ...{ processes: 5, tasks: [10, 100, 500], asks: 2.5 },
    ...{ steady: 'gap median ms', growth: 1.3 },
  },
  leases: { count: 5_000, asks: 50, slack: 2 },
};
