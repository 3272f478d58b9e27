/**
 * The conformance suite on a real service, which all cases share: each uses names of its own. All
 * of it runs on the tests' own shelf of documents and on one table. Elsewhere the steps are the
 * same code, so only those cases run that depend on the service: its clock, conditions and news.
 */
import type { Store } from 'holdfast';
import type { DocumentStoreOptions } from 'holdfast/document';
import { type SuiteOptions, suite } from '../../methods/conformance/suite.ts';
import { HANG_MS, paced } from '../../support/this-run.ts';
import { sharedServer } from './service.ts';

export interface Service<S> {
  /** Why it cannot be had, if it cannot. */
  readonly why: string | undefined;
  start(): Promise<S & { close(): Promise<void> }>;
  /** Another program's way to it. */
  store(server: S, options: DocumentStoreOptions): Store;
  readonly traits: Store['traits'];
  /** How much later than asked for a claim may end, in ms; default not at all. */
  readonly slackMs?: number;
  /** Beside `claimAll`, which needs several documents in one step. */
  readonly lacks?: SuiteOptions['lacks'];
  readonly anonymous?: boolean;
  /** All topics, not only those that depend on the service. Default false. */
  readonly whole?: boolean;
  /** It carries out one request at a time: at most two cases run at once. Default false. */
  readonly slow?: boolean;
}

const TOPICS = [
  ...['traits', 'claim', 'try', 'renew', 'release', 'expiry', 'takeover', 'keep', 'hints'],
  ...['names', 'inspect', 'locks'],
];

export function documentConformance<S>(service: Service<S>): void {
  const { why, start, store, traits, slackMs = 0, lacks = [], anonymous = false } = service;
  const { whole = false, slow = false } = service;
  const server = sharedServer(why, start);

  suite({
    ...(slow && { atOnce: 2 }),
    create: ({ maxWaiters = 10_000 }) => ({
      connect: () => store(server(), { maxWaiters }),
      shortMs: paced(600),
      slackMs,
    }),
    ...{ traits, lacks: ['claimAll', ...lacks], anonymous, patienceMs: HANG_MS },
    ...(!whole && { topics: TOPICS }),
  });
}
