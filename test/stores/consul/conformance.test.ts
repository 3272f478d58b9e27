import { consulStore } from 'holdfast/consul';
import { ConsulServer } from '../../servers/consul-server.ts';
import { missing } from '../../servers/programs.ts';
import { documentConformance } from '../document/conformance.ts';

documentConformance({
  why: await missing('consul'),
  start: () => ConsulServer.start(),
  store: ({ url }, options) => consulStore(url, options),
  traits: consulStore('http://unused').traits,
});
