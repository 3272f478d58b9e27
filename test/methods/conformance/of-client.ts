/**
 * What of the conformance suite depends on the way to a server: its client, its version, its users.
 *
 * A store speaks with a server in the verbs of the contract alone, so every case about a bare store
 * is among it; and of those about locks, which only call these verbs, those in which the way itself
 * fails, forgets or ends. The others run on every store and every topology through one client.
 */
import { CONTRACT } from '../../../src/testkit/conformance.ts';
import { WHOLE } from '../../support/this-run.ts';

export const OF_CLIENT: readonly string[] = [
  ...['traits', ...CONTRACT.map(({ topic }) => topic)],
  ...['data loss', 'mutex, acquire', 'mutex, loss', 'mutex, close', 'inspect, list, events'],
  'parts',
];

/** For another user or way of a server on which all topics run already. */
export const OF_CLIENT_UNLESS_WHOLE: readonly string[] | undefined = WHOLE ? undefined : OF_CLIENT;
