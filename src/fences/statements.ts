/** The fence's row, in statements that SQLite and PostgreSQL read alike. */

export interface Statements {
  /** Answer a row if they entered. */
  readonly raise: string;
  readonly raiseFloor: string;
  readonly look: string;
  readonly adopt: string;
}

/**
 * Tokens travel as text: clients differ in how they bind and read integers beyond 2^53. Each of
 * these writes the row even when it is as it should be: writing is what keeps others out.
 */
export function statements(table: string): Statements {
  const row = `INSERT INTO ${table} AS f (resource, lineage, token, floor)`;
  const token = 'CAST(CAST(? AS text) AS bigint)';
  return {
    raise: `${row} VALUES (?, ?, ${token}, 0)
ON CONFLICT (resource) DO UPDATE SET token = excluded.token
WHERE f.lineage = excluded.lineage AND f.token <= excluded.token AND f.floor <= excluded.token
RETURNING 1 AS entered`,
    raiseFloor: `${row} VALUES (?, ?, 0, ${token})
ON CONFLICT (resource) DO UPDATE
SET floor = CASE WHEN f.floor > excluded.floor THEN f.floor ELSE excluded.floor END
WHERE f.lineage = excluded.lineage AND f.token <= excluded.floor
RETURNING 1 AS entered`,
    look: `SELECT lineage, CAST(token AS text) AS token, CAST(floor AS text) AS floor
FROM ${table} WHERE resource = ?`,
    adopt: `${row} VALUES (?, ?, ${token}, 0)
ON CONFLICT (resource) DO UPDATE SET lineage = excluded.lineage, token = excluded.token, floor = 0
RETURNING 1 AS entered`,
  };
}
