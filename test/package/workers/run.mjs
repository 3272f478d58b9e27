// Runs a bundled Worker in workerd: `run.mjs BUNDLE MODULES DATE FLAG...`, with the folder that has
// Miniflare, and the compatibility date and flags.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [scriptPath, modules, compatibilityDate, ...compatibilityFlags] = process.argv.slice(2);
const { Miniflare } = createRequire(import.meta.url)(join(modules, 'miniflare'));

const miniflare = new Miniflare({
  // Else it asks Cloudflare where this machine is.
  cf: false,
  ...{ modules: true, scriptPath, compatibilityDate, compatibilityFlags },
  d1Databases: ['DB', 'EMPTY'],
  durableObjects: { LOCKS: { className: 'LockDocument', useSQLite: true } },
});

async function ask(scene) {
  const response = await miniflare.dispatchFetch(`http://worker/${scene}`);
  const text = await response.text();
  assert.equal(response.status, 200, `${scene}: ${text}`);
}

/** In two requests, one after the other. */
async function leaveAndTake(store) {
  await ask(`${store}/leave`);
  await ask(`${store}/take`);
}

/** Far more than it takes; nothing else would end a request that hangs. */
const HANG_MS = 60_000;
const hangs = new Promise((_, reject) => {
  setTimeout(() => reject(new Error(`It hung for ${HANG_MS} ms.`)), HANG_MS).unref();
});

try {
  const alone = ['memory', 'd1', 'objects', 'page', 'broken/fail'].map(ask);
  const left = ['d1', 'objects'].map(leaveAndTake);
  await Promise.race([Promise.all([...alone, ...left]), hangs]);
  console.log('passed in workerd');
} finally {
  await miniflare.dispose();
}
// Whatever is still open.
process.exit();
