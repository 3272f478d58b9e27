// Run in a folder where the tarball is installed, with the names of its entries as arguments:
// loads each both ways, and locks with a store of one build under the core of the other.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const names = process.argv.slice(2);
assert.ok(names.length > 1, 'no entries named');

for (const name of names) {
  const imported = Object.keys(await import(name)).sort();
  assert.deepEqual(imported, Object.keys(require(name)).sort(), `${name} differs by build`);
  assert.ok(imported.length > 0, `${name} exports nothing`);
}

const { createLocks } = await import('holdfast');
const { memoryStore } = require('holdfast/memory');
const locks = createLocks(memoryStore());
assert.equal(await locks.mutex('package').run(() => 'locked'), 'locked');
await locks.close();

const { isLockError } = require('holdfast');
assert.throws(
  () => locks.mutex(''),
  (error) => isLockError(error, 'USAGE'),
);
