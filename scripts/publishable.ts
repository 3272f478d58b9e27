/** npm runs this before it publishes. */
import { manifest, missingOnPage } from './package/manifest.ts';

const missing = missingOnPage(await manifest());
if (missing.length > 0) {
  console.error(`package.json lacks ${missing.join(', ')}: the links of its page would be dead.`);
  process.exitCode = 1;
}
