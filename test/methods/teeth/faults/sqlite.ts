import type { Fault } from '../fault.ts';

const connection = { file: 'src/clients/sqlite/connection.ts' };
const queues = { file: 'src/stores/sqlite/queues.ts' };
const part = { file: 'src/stores/sqlite/queue-part.ts' };
const records = { file: 'src/stores/sqlite/records.ts' };
const quiet = { file: 'src/stores/sqlite/quiet.ts' };
const store = { file: 'src/stores/sqlite/sqlite-store.ts' };
const database = { file: 'src/stores/sqlite/lock-database.ts' };
const wakes = { file: 'src/stores/sqlite/wakes.ts' };
const wakeFile = { file: 'src/clients/sqlite/wake-file.ts' };

/** A store that breaks the contract: the one in a file that processes share. */
export const SQLITE_FAULTS: readonly Fault[] = [
  {
    ...wakeFile,
    name: 'a process removes the file at which it listens',
    find: 'if (name === basename(this.#path)) continue;',
    replace: '',
    why: 'with a wall clock that is ahead it makes the file anew, again and again',
  },
  {
    ...connection,
    name: 'BEGIN instead of BEGIN IMMEDIATE',
    find: "this.#database.exec('BEGIN IMMEDIATE');",
    replace: "this.#database.exec('BEGIN');",
    why: 'the clock is read before the lock is taken: tokens go back',
  },
  {
    ...connection,
    name: 'a failed step is committed',
    find: "this.#database.exec('ROLLBACK');",
    replace: "this.#database.exec('COMMIT');",
    why: 'half a step stays: a claim that its process knows nothing of',
  },
  {
    ...quiet,
    name: 'the quick heartbeat revives the dead',
    find: `AND c.expires > ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim o WHERE o.resource = c.resource
      AND (o.admitted = 0 OR o.expires <= ? OR`,
    replace: `AND c.expires > ? - 1e15
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim o WHERE o.resource = c.resource
      AND (o.admitted = 0 OR o.expires <= ? - 1e15 OR`,
    why: 'a process that stood still revives a lease that it was told is lost',
  },
  {
    ...quiet,
    name: 'the quick heartbeat renews the evicted',
    find: 'AND c.admitted = 1 AND c.sealed IS NULL AND c.expires > ?',
    replace: 'AND c.admitted = 1 AND c.expires > ?',
    why: 'an eviction never takes effect while the holder is alive',
  },
  {
    ...quiet,
    name: 'the quick heartbeat does not look who waits',
    find: 'AND (o.admitted = 0 OR o.expires <= ? OR o.lim < c.lim))\n    RETURNING id, seq',
    replace: 'AND (o.expires <= ? OR o.lim < c.lim))\n    RETURNING id, seq',
    why: 'a process keeps the lock among its own tasks while others wait',
  },
  {
    ...quiet,
    name: 'the quick claim does not look for tombstones',
    find: 'FROM holdfast_tombstone t WHERE t.id = j.id AND t.until > n.now)',
    replace: 'FROM holdfast_tombstone t WHERE t.id = j.id AND t.until < 0 * n.now)',
    why: 'a late copy of a claim takes the lock for nobody',
  },
  {
    ...quiet,
    name: 'the quick claim does not compare the base',
    find: 'WHERE base = n.base_known',
    replace: 'WHERE base IS NOT NULL OR n.base_known',
    why: 'tokens go back when another process has begun a new series',
  },
  {
    ...quiet,
    name: 'the quick release does not look who waits',
    find: 'AND o.seq <> c.seq AND (o.admitted = 0 OR o.sealed',
    replace: 'AND o.seq <> c.seq AND (o.sealed',
    why: 'a lock is free, and nobody is told',
  },
  {
    ...quiet,
    name: 'a quick release does not look who holds',
    find: "leave: leaveWhere('resource = ? AND id = ?'),",
    replace: "leave: leaveWhere('resource = ? AND id IN (id, ?)'),",
    why: 'a late release frees the lock of somebody else',
  },
  {
    ...part,
    name: 'a queue ahead of the clock is not continued from its end',
    find: 'const last = BigInt(found.last ?? 0);',
    replace: 'const last = 0n;',
    why: 'tokens go back, and newcomers overtake',
  },
  {
    ...queues,
    name: 'the base is read once',
    find: 'this.base = part.base;',
    replace: 'this.base ||= part.base;',
    why: 'tokens go back when another process has begun a new series',
  },
  {
    ...queues,
    name: 'two steps have the same time',
    find: 'now <= this.now; again++',
    replace: 'now < 0 * this.now; again++',
    why: 'two claims have the same place',
  },
  {
    ...part,
    name: 'what was read of a queue is always enough',
    find: 'return !edge || (this.queue.find(edge.id) === edge && !edge.admitted);',
    replace: 'return !edge || !edge.admitted || edge.admitted;',
    why: 'many dead waiters in front stop a queue, or let in a claim far behind',
  },
  {
    ...part,
    name: 'a dead holder leaves the file before a claim has learned of it',
    find: 'if (left && queue.unfinished?.token !== entry.number) {',
    replace: 'if (left) {',
    why: 'nobody recovers the work that it left',
  },
  {
    ...part,
    name: 'a claim is looked for only where it was',
    find: "readWith('id = ?')",
    replace: "readWith('? IS NULL')",
    why: 'whoever waits far back is told that it is gone',
  },
  {
    ...part,
    name: 'several claims are looked for only where they were',
    find: "readWith('id IN (SELECT value FROM json_each(?))')",
    replace: "readWith('? IS NULL')",
    why: 'all who wait far back in one process are told that they are gone',
  },
  {
    ...part,
    name: 'what a step changes is not compared with what was read',
    find: 'if (!isAsRead(row, changing)) this.#sql.change',
    replace: 'if (row.length === 0) this.#sql.change',
    why: 'no claim is ever admitted',
  },
  {
    ...store,
    name: 'wake-ups come before the commit',
    find: `        return work(queues, records);
      });
      this.#wakes.send(queues.wakes);
      return result;`,
    replace: `        const done = work(queues, records);
        this.#wakes.send(queues.wakes);
        return done;
      });
      return result;`,
    why: 'whoever is woken finds the old state, and sleeps on',
  },
  {
    ...database,
    name: 'a file that was replaced goes unnoticed',
    find: 'return identityOf(this.#opened.connection.file) !== this.#opened.identity;',
    replace: "return this.#opened.identity === '';",
    why: 'two holders, each in a file of its own',
  },
  {
    ...database,
    name: "the program's own database is closed",
    find: 'if (!this.#parts.database) this.#opened?.connection.close();',
    replace: 'this.#opened?.connection.close();',
    why: 'the program loses its database with its locks',
  },
  {
    ...wakes,
    name: 'an evicted claim that is gone is not woken',
    find: "const status = said === '?' ? undefined : statusIn(said);",
    replace: "if (said === '?') continue;\n      const status = statusIn(said);",
    why: 'a holder that was evicted at once works on for a third of a TTL',
  },
  {
    ...wakes,
    name: 'SQLite: news that are older than a reply count',
    find: 'if (!watch || at < watch.at) continue;',
    replace: 'if (!watch) continue;',
    why: 'a holder takes the lock for wanted by nobody although others wait',
  },
  {
    ...wakeFile,
    name: 'half a line counts as read',
    find: 'const end = bytes.lastIndexOf(10, count - 1) + 1;',
    replace: 'const end = count;',
    why: 'wake-ups are lost while others are written',
  },
  {
    ...wakeFile,
    name: 'a truncated file is read from where it was',
    find: 'const cut = size < this.#offset;',
    replace: 'const cut = false;',
    why: 'wake-ups are lost once the file was emptied',
  },
  {
    ...wakeFile,
    name: 'whatever is in the place of a wake file is taken for one',
    find: 'if (start.equals(MARK)) return fd;',
    replace: 'return fd;',
    why: 'another user makes a process write into its own files',
  },
  {
    file: 'src/stores/sqlite/rows.ts',
    name: 'an address in a row is believed',
    find: "if (!ADDRESS.test(address)) return 'address';",
    replace: '',
    why: 'another user names a path outside of the directory',
  },
  {
    ...records,
    name: 'a reboot leaves the ends of records as they were',
    find: 'now - seen.monotonic - rested',
    replace: '0',
    why: 'records of work that is done vanish when the machine starts, or live for months',
  },
  {
    ...records,
    name: 'a reboot that sets the wall clock back lets records live longer',
    find: 'Math.max(0, wall - seen.wall)',
    replace: 'wall - seen.wall',
    why: 'a dead battery makes a key done for years',
  },
  {
    ...records,
    name: 'the time that the machine was off is not counted',
    find: 'const rested = Math.max(0, wall - seen.wall)',
    replace: 'const rested = 0 * wall',
    why: 'what is kept for a day is kept for a week on a machine that is off at night',
  },
  {
    ...records,
    name: 'the clocks are noted when the file is made, and never again',
    find: 'this.#sql.look.run(now, this.#machine.wallUs());',
    replace: '',
    why: 'a wall clock that was wrong then takes records away at the next reboot',
  },
  {
    ...records,
    name: 'records that have ended are left in the file',
    find: 'this.#sql.sweep.run(now, SWEPT_EACH);',
    replace: '',
    why: 'the file grows for ever',
  },
  {
    ...records,
    name: 'SQLite: whoever waits keeps something',
    find: ' AND admitted = 1',
    replace: '',
    why: 'work is taken for done while somebody else does it',
  },
  {
    ...records,
    name: 'SQLite: who was evicted keeps something',
    find: ' AND sealed IS NULL',
    replace: '',
    why: 'an operator stops an attempt, and it succeeds all the same',
  },
  {
    ...records,
    name: 'SQLite: who has no life left keeps something',
    find: 'AND expires > ?)',
    replace: 'AND ? > 0)',
    why: 'an attempt that stood still succeeds beside the one that came after it',
  },
  {
    ...store,
    name: 'SQLite: a claim whose turn has come keeps nothing before its heartbeat',
    find: ' || (queues.holds(claim) && records.keep(claim, record))',
    replace: '',
    why: 'SQLite and the other stores disagree about who holds',
  },
  {
    ...store,
    name: 'SQLite: a claim whose turn has come is told that it kept a record, which it did not',
    find: '(queues.holds(claim) && records.keep(claim, record))',
    replace: 'queues.holds(claim)',
    why: 'the work is done a second time',
  },
  {
    ...store,
    name: 'a record is kept in a file that is gone',
    find: 'if (!this.#database.checkNow()) return false;',
    replace: "if (this.#parts.file === '') return false;",
    why: 'work is taken for recorded, and done again',
  },
];
