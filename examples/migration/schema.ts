/** A schema in steps; what was done is recorded beside it, in the same transaction. */
import type { Lease } from 'holdfast';
import { sqlFence } from 'holdfast/fence';
import { type Database, transaction } from '../shared/open-database.ts';

const STEPS: readonly string[] = [
  'CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
  "INSERT INTO customer (name) VALUES ('Ada'), ('Ben')",
  'ALTER TABLE customer ADD COLUMN email TEXT',
  "UPDATE customer SET email = lower(name) || '@example.com'",
];

const fence = sqlFence({ dialect: 'sqlite' });

/**
 * Takes the next step; false if there is none. With the fence, an instance that stood still for so
 * long that another one took over cannot take a step any more.
 */
export function nextStep(database: Database, lease: Lease): boolean {
  return transaction(database, () => {
    fence.enter(database, lease);
    database.exec('CREATE TABLE IF NOT EXISTS done (step INTEGER NOT NULL)');
    const sql = STEPS[stepsDone(database)];
    if (sql === undefined) return false;
    database.exec(sql);
    database.exec('INSERT INTO done SELECT count(*) FROM done');
    return true;
  });
}

export function stepsDone(database: Database): number {
  return (database.prepare('SELECT count(*) AS n FROM done').get() as { n: number }).n;
}

export const STEP_COUNT: number = STEPS.length;
