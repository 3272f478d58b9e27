// A program whose parts load the package both ways has two copies of it, which act as one: errors
// are known, locks exclude, a nested run is seen, and the store closes with the last. Run like
// program.ts.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as imported from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { sqliteStore } from 'holdfast/sqlite';

const required = createRequire(import.meta.url)('holdfast');
const [file] = process.argv.slice(2);
const pairs = [
  [imported, required],
  [required, imported],
];

assert.notEqual(imported.createLocks, required.createLocks, 'there is only one copy');
for (const [one, other] of pairs) {
  const store = file === 'memory' ? memoryStore() : sqliteStore(file);
  const locks = one.createLocks(store);
  const others = other.createLocks(store);
  await knowErrors(locks, other);
  await exclude(locks, others);
  await seeNested(locks, others);
  await locks.close();
  assert.equal(await others.mutex('open').run(() => 'still'), 'still');
  await others.close();
}
if (file !== 'memory') {
  const [locks, others] = [imported, required].map((copy) => copy.createLocks(sqliteStore(file)));
  await exclude(locks, others);
  await Promise.all([locks.close(), others.close()]);
}
console.log(`passed on ${file === 'memory' ? 'memory' : 'sqlite'}`);

async function knowErrors(locks, { isLockError }) {
  assert.throws(
    () => locks.mutex(''),
    (error) => isLockError(error, 'USAGE'),
  );
  const work = locks.mutex('evicted').run(async ({ token, signal }) => {
    await imported.evict(locks, 'evicted', { token, reason: 'to see it told', now: true });
    while (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1));
  });
  await assert.rejects(work, (error) => isLockError(error, 'LEASE_LOST'));
}

async function exclude(locks, others) {
  const lease = await locks.mutex('a').acquire();
  assert.equal(await others.mutex('a').tryAcquire(), null);
  let released = false;
  const next = others.mutex('a').run(() => released);
  released = true;
  await lease.release();
  assert.equal(await next, true);
}

async function seeNested(locks, others) {
  await locks.mutex('nested').run(async (outer) => {
    const again = others.mutex('nested').run(() => undefined);
    await assert.rejects(again, { code: 'DEADLOCK' });
    const inner = others.mutex('nested', { reentrant: true }).run((lease) => lease === outer);
    assert.equal(await inner, true);
    assert.equal(await others.mutex('free').run(() => 'stranger'), 'stranger');
  });
}
