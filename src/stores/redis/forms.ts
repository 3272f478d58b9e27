import type { Traits } from '../../contract/store.ts';
import { PLAIN, PUBLISHED, QUEUE, type Scripts } from './scripts.ts';

/** How claims are kept. */
export interface Form {
  readonly name: string;
  readonly scripts: Scripts;
  readonly traits: Traits;
  /** A release shows the secret of its claim. */
  readonly proves?: boolean;
}

/** A resource is a queue. */
export const QUEUE_FORM: Form = {
  name: 'redis',
  scripts: QUEUE,
  traits: {
    queue: true,
    permits: true,
    tokens: "the server's time, or one more than the last",
    atomicTry: true,
    clock: 'server',
    failover: 'best-effort',
    reach: 'network',
    records: true,
    sequential: true,
    hintsGrant: true,
  },
  proves: true,
};

/** A resource is a key; other programs know only whether it is there. */
export const PLAIN_FORM: Form = {
  name: 'redis-plain',
  scripts: PLAIN,
  traits: {
    ...QUEUE_FORM.traits,
    queue: false,
    permits: false,
    tokens: "the server's time, or one more than the last; other programs have none",
    hintsGrant: false,
  },
};

/** The same, where a release wakes other programs. */
export const PUBLISHED_FORM: Form = { ...PLAIN_FORM, scripts: PUBLISHED };
