import { LAYOUTS, type Layout } from '../../../src/stores/sqlite/schema.ts';

/** What a later version of the library may make of the file while this one is using it. */
export const NEXT_LAYOUTS: readonly Layout[] = [
  ...LAYOUTS,
  {
    oldest: LAYOUTS.length,
    sql: `
      ALTER TABLE holdfast_meta ADD COLUMN remark TEXT NOT NULL DEFAULT '';
      ALTER TABLE holdfast_claim ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE holdfast_claim ADD COLUMN remark TEXT;
      ALTER TABLE holdfast_tombstone ADD COLUMN remark TEXT;
      CREATE INDEX holdfast_claim_by_id ON holdfast_claim (id, priority);
      CREATE TABLE holdfast_remark (
        resource TEXT PRIMARY KEY,
        text TEXT NOT NULL
      ) WITHOUT ROWID;
    `,
  },
];

/** A change that programs of this version cannot live with. */
export const BREAKING_LAYOUTS: readonly Layout[] = [
  ...LAYOUTS,
  { oldest: LAYOUTS.length + 1, sql: 'ALTER TABLE holdfast_claim RENAME TO holdfast_claim_2' },
];
