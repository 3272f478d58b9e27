/** The routines of `schema.sql`, called over connections of a client package. */
import { randomId } from '../../base/random-id.ts';
import type { Routine, Source, Wire, WireTerms } from '../sql/wire.ts';
import { type Bell, listen, ON_PRIMARY } from './bell.ts';
import { type Connect, type Connection, first, literal, type Row } from './connection.ts';
import { judge, numberOf } from './errors.ts';
import { check } from './opening.ts';
import { prepared } from './session-settings.ts';

/**
 * The routines that return all their lines in one JSON, an array or an object by the place of each,
 * and beside it the places of claims whose row is busy.
 */
const TOGETHER: readonly Routine[] = ['claim', 'renew', 'release', 'look'];

/** The arguments of a call about one claim. */
const TERMS: Readonly<Partial<Record<Routine, readonly string[]>>> = {
  claim: [
    'settings',
    'resource',
    'id',
    'kind',
    'permits',
    'limit',
    'ttl',
    'queue',
    'address',
    'tag',
    'holder',
  ],
  renew: ['settings', 'resource', 'id', 'ttl'],
  release: ['settings', 'resource', 'id', 'ttl', 'unanswered', 'after', 'asking'],
};

/** Separates the claims of a batch. */
const BETWEEN = '},{';

const DEADLOCK = 1213;

/** The store's own calls cannot wait in a circle; with a purge of the server they might. */
const TRIES = 3;

/** The state that all sessions of a process share. */
interface Common {
  readonly connect: Connect;
  readonly prefix: string;
  bell?: Bell | undefined;
}

export function sourceOf(client: Connect, prefix: string): Source {
  const connect = prepared(client);
  const common: Common = { connect, prefix };
  return {
    judge,
    async open(terms) {
      const connection = await connect(terms);
      const wakes = await first(connection, terms.signal, () => check(connection, prefix));
      return wireOf(connection, common, { ...terms, wakes });
    },
  };
}

interface Terms extends WireTerms {
  readonly wakes: boolean;
}

function wireOf(connection: Connection, common: Common, { wakes, ...terms }: Terms): Wire {
  const { connect, prefix } = common;
  let closed = false;
  let own: Bell | undefined;
  const answer = async (channel: string): Promise<void> => {
    const gate = `${channel}_${randomId().slice(0, 16)}`;
    const take = `SELECT GET_LOCK(${literal(gate)}, 0) ${ON_PRIMARY}`;
    const [[held] = []] = await connection.query(take);
    // NULL is an error, and no other session knows the name.
    if (held !== '1') throw new Error('GET_LOCK failed');
    own = await listen({ ...terms, connect, prefix, channel, gate });
    common.bell = own;
    if (closed) own.end();
  };
  return {
    async call(routine, values) {
      const { bell } = common;
      const one = oneOf(routine, values, bell?.address ?? '-');
      const args = one ?? values.map(literal);
      const name = `${prefix}${routine}${one ? '_one' : ''}`;
      const rows = await calm(connection, `CALL ${name}(${args.join(', ')})`);
      const told = one && rows[0]?.[1];
      if (told) bell?.tell(told);
      const column = rows.map(([line]) => String(line));
      if (one || !TOGETHER.includes(routine)) return column;
      const lines = Object.values((JSON.parse(column[0] ?? '[]') ?? []) as object).map(String);
      const busy = rows[0]?.[1]?.split(' ') ?? [];
      return [...busy.map((place) => `b ${place}`), ...lines];
    },
    listen: wakes ? answer : undefined,
    ping: () => connection.query('DO 0'),
    close() {
      closed = true;
      own?.end();
      connection.end();
    },
  };
}

/** The plain values of a call about one claim, which saves the server a table of JSON. */
function oneOf(
  routine: Routine,
  [settings = '', claims = '']: readonly string[],
  asking: string,
): readonly string[] | undefined {
  const terms = TERMS[routine];
  // Most batches are recognised without being parsed.
  if (!terms || claims.includes(BETWEEN)) return undefined;
  const [claim] = JSON.parse(claims) as readonly Readonly<Record<string, unknown>>[];
  const all: Readonly<Record<string, unknown>> = { ...claim, settings, asking };
  return claim && terms.map((term) => wordOf(all[term]));
}

function wordOf(term: unknown): string {
  return typeof term === 'string' ? literal(term) : String(term);
}

/** A deadlock has rolled everything back, so another try does nothing twice. */
async function calm(connection: Connection, text: string, tries = TRIES): Promise<readonly Row[]> {
  try {
    return await connection.query(text);
  } catch (error) {
    if (numberOf(error) !== DEADLOCK || tries <= 1) throw error;
    return calm(connection, text, tries - 1);
  }
}
