/**
 * What depends on the way to a server: its client, its version, its users. A store speaks with a
 * server in the verbs of the contract alone, so that is the published suite. What is about core
 * runs on every store and every topology through one client.
 */
import { TOPICS } from '../../../src/testkit/conformance.ts';
import { WHOLE } from '../../support/this-run.ts';

export const OF_CLIENT: readonly string[] = ['traits', ...TOPICS.map(({ topic }) => topic)];

/** For another user or way of a server on which all topics run already. */
export const OF_CLIENT_UNLESS_WHOLE: readonly string[] | undefined = WHOLE ? undefined : OF_CLIENT;
