import { objectStore } from 'holdfast/objects';
import { missing } from '../../servers/programs.ts';
import { documentConformance } from '../document/conformance.ts';
import { objectsAt, startBucket } from './bucket.ts';

documentConformance({
  why: await missing('python'),
  start: startBucket,
  store: ({ port }, options) => objectStore(objectsAt(port), options),
  // Those of the clock, and the second that it counts in.
  slackMs: 3000,
  slow: true,
  traits: objectStore(objectsAt(1)).traits,
});
