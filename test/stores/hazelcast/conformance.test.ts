import { hazelcastStore } from 'holdfast/hazelcast';
import { missingHazelcast } from '../../servers/hazelcast-cluster.ts';
import { documentConformance } from '../document/conformance.ts';
import { NO_CLIENT, startWithClients } from './with-clients.ts';

documentConformance({
  why: await missingHazelcast(),
  start: () => startWithClients(),
  store: ({ client }, options) => hazelcastStore(client, options),
  traits: hazelcastStore(NO_CLIENT).traits,
  lacks: ['list'],
});
