import { type Faults, inTest } from '../fault.ts';

const connection = { file: 'src/clients/sqlite/connection.ts' };
const quiet = { file: 'src/stores/sqlite/quiet.ts' };
const queues = { file: 'src/stores/sqlite/queues.ts' };
const layout = { file: 'src/stores/sqlite/layout.ts' };

const SQLITE = 'test/methods/conformance/sqlite.test.ts';
const DATABASE = 'test/stores/sqlite/database.test.ts';
const LAYOUT = 'test/stores/sqlite/layout.test.ts';
const QUIET = 'test/stores/sqlite/quiet.test.ts';

/** Queues in a file, read in part, and its clock. */
export const SQLITE_FAULTS: Faults = {
  'BEGIN instead of BEGIN IMMEDIATE': {
    ...connection,
    find: "this.#database.exec('BEGIN IMMEDIATE');",
    replace: "this.#database.exec('BEGIN');",
    why: 'the clock is read before the lock is taken: tokens go back',
    by: inTest(
      'test/stores/sqlite/trouble.test.ts',
      'a lock that another keeps: an error after the time-out, and the loop goes on',
    ),
  },
  'a failed step is committed': {
    ...connection,
    find: "this.#database.exec('ROLLBACK');",
    replace: "this.#database.exec('COMMIT');",
    why: 'half a step stays: a claim that its process knows nothing of',
    by: inTest(
      'test/stores/sqlite/versions.test.ts',
      'an upgrade that fails leaves the file as it was',
    ),
  },
  'the quick heartbeat revives the dead': {
    ...quiet,
    find: `AND c.expires > ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim o WHERE o.resource = c.resource
      AND (o.admitted = 0 OR o.expires <= ? OR`,
    replace: `AND c.expires > ? - 1e15
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim o WHERE o.resource = c.resource
      AND (o.admitted = 0 OR o.expires <= ? - 1e15 OR`,
    why: 'a process that stood still revives a lease that it was told is lost',
    by: inTest(SQLITE, 'renew: renewing an expired holder never revives it'),
  },
  'the quick claim does not look for tombstones': {
    ...quiet,
    find: 'FROM holdfast_tombstone t WHERE t.id = j.id AND t.until > n.now)',
    replace: 'FROM holdfast_tombstone t WHERE t.id = j.id AND t.until < 0 * n.now)',
    why: 'a late copy of a claim takes the lock for nobody',
    by: inTest(SQLITE, 'release: a claim that arrives after its release is refused for good'),
  },
  'the quick claim does not compare the base': {
    ...quiet,
    find: 'WHERE base = n.base_known',
    replace: 'WHERE base IS NOT NULL OR n.base_known',
    why: 'tokens go back when another process has begun a new series',
    by: inTest(LAYOUT, 'without a boot id, a step of the wall clock costs nobody a claim'),
  },
  'a quick release does not look who holds': {
    ...quiet,
    find: "leave: leaveWhere('resource = ? AND id = ?'),",
    replace: "leave: leaveWhere('resource = ? AND id IN (id, ?)'),",
    why: 'a late release frees the lock of somebody else',
    by: inTest(DATABASE, 'a release that comes late ends no other claim'),
  },
  'a lock that was left free is taken with any number': {
    ...quiet,
    find: 'AND place = 0 AND admitted = 0 AND seq < ?',
    replace: 'AND place = 0 AND admitted = 0 AND seq <> ?',
    why: 'tokens go back when a process stood still after it had read the clock',
    by: inTest(QUIET, 'whoever has read the clock too early gets a greater number all the same'),
  },
  'a lock is left free although another waits': {
    ...quiet,
    find: 'o.resource = c.resource AND o.place > 0)',
    replace: 'o.resource = c.resource AND o.place < 0)',
    why: 'the first waiter is not woken, and the next claim overtakes it',
    by: inTest(QUIET, 'who waits behind a claim that took a free lock is let in'),
  },
  'the base is read once': {
    ...queues,
    find: 'this.base = part.base;',
    replace: 'this.base ||= part.base;',
    why: 'tokens go back when another process has begun a new series',
    by: inTest(LAYOUT, 'without a boot id, a step of the wall clock costs nobody a claim'),
  },
  'two steps have the same time': {
    ...queues,
    find: 'now <= this.now; again++',
    replace: 'now < 0 * this.now; again++',
    why: 'two claims have the same place',
    by: inTest(LAYOUT, 'tokens grow on a clock with long steps, whoever was there is gone'),
  },
  'wake-ups come before the commit': {
    file: 'src/stores/sqlite/sqlite-store.ts',
    find: `      return work(queues);
    });
    this.#wakes.send(queues.wakes);
    return result;`,
    replace: `      const done = work(queues);
      this.#wakes.send(queues.wakes);
      return done;
    });
    return result;`,
    why: 'whoever is woken finds the old state, and sleeps on',
    by: inTest('test/stores/sqlite/wakes.test.ts', 'nobody is woken before the commit'),
  },
  'a file that was replaced goes unnoticed': {
    file: 'src/stores/sqlite/lock-database.ts',
    find: 'if (identityOf(connection.file) === identity) return true;',
    replace: "if (identity !== '') return true;",
    why: 'two holders, each in a file of its own',
    by: inTest('test/stores/sqlite/file.test.ts', 'a heartbeat notices that the file was deleted'),
  },
  'whatever is in the place of a wake file is taken for one': {
    file: 'src/clients/sqlite/wake-file.ts',
    find: 'if (start.equals(MARK)) return fd;',
    replace: 'return fd;',
    why: 'another user makes a process write into its own files',
    by: inTest(
      'test/stores/sqlite/foreign-files.test.ts',
      'nobody writes to a second name of a file where a process does not listen yet',
    ),
  },
  'SQLite claims live by the wall clock': {
    file: 'src/clients/sqlite/machine.ts',
    find: 'nowUs: monotonicClock(),',
    replace: 'nowUs: () => Date.now() * 1000,',
    why: 'two holders when the clock is set forward',
    by: inTest(LAYOUT, 'the clock of the machine does not follow its wall clock'),
  },
  'a reboot keeps claims': {
    ...layout,
    find: "if (boot ? meta.boot !== boot : meta.boot !== '' || meta.base + now < meta.highest) {",
    replace: 'if (meta.layout < 0) {',
    why: 'locks are held by processes that are gone, for as long as the machine was up',
    by: inTest(LAYOUT, 'a reboot ends all claims, tells the next holder, and tokens go on growing'),
  },
  'after a reboot tokens begin where the file says they ended': {
    ...layout,
    find: 'highest + HOUR_US);',
    replace: 'highest);',
    why: 'a power cut took back the last minute: tokens come twice',
    by: inTest(LAYOUT, 'tokens go on above those that a power cut has taken out of the file'),
  },
};
