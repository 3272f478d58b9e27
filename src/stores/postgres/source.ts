/** The routines of `schema.sql`, called over connections of a client package. */
import type { Routine, Source } from '../sql/wire.ts';
import { bounded } from './bounded.ts';
import type { Connect, Row } from './connection.ts';
import { judge } from './errors.ts';
import { GivenUp } from './given-up.ts';
import { check, type OpeningParts } from './opening.ts';
import { quoted } from './schema-name.ts';

const TYPES: Readonly<Record<Routine, readonly string[]>> = {
  claim: ['json', 'json'],
  claim_one: [
    'text',
    'text',
    'bigint',
    'boolean',
    'text',
    'uuid',
    'text',
    'integer',
    'integer',
    'integer',
    'boolean',
    'text',
    'text',
    'text',
  ],
  renew: ['json', 'json'],
  release: ['json', 'json'],
  release_one: ['text', 'text', 'bigint', 'boolean', 'text', 'uuid', 'bigint'],
  change: ['json', 'json'],
  keep: ['json', 'text', 'uuid', 'text', 'bigint'],
  recall: ['text'],
  inspect: ['json', 'text'],
  names: ['text', 'integer'],
  look: ['json'],
  sweep: [],
};

export function sourceOf(connect: Connect, parts: OpeningParts): Source {
  const texts = Object.fromEntries(
    Object.entries(TYPES).map(([routine, types]) => {
      const values = types.map((type, n) => `$${n + 1}::${type}`).join(', ');
      return [routine, bounded(`${quoted(parts.schema)}.${routine}(${values})`)];
    }),
  ) as Readonly<Record<Routine, string>>;
  const givenUp = new GivenUp();
  return {
    judge,
    async open(terms) {
      const connection = await connect(terms);
      const end = (): void => connection.end();
      terms.signal.addEventListener('abort', end, { once: true });
      const opened = async (): Promise<boolean> => {
        const direct = await check(connection, parts);
        if (direct) await givenUp.check(connection);
        return direct;
      };
      const direct = await opened().catch((error: unknown) => {
        end();
        throw error;
      });
      terms.signal.removeEventListener('abort', end);
      let busy = false;
      return {
        call(routine, values) {
          const name = direct && { name: `holdfast_${routine}` };
          busy = true;
          return connection
            .query({ text: texts[routine], values, ...name })
            .then(columnOf)
            .finally(() => {
              busy = false;
            });
        },
        listen: direct ? (channel) => connection.listen(channel) : undefined,
        ping: () => connection.query({ text: 'SELECT 1' }),
        close() {
          if (busy && direct) givenUp.add(Number(connection.pid));
          end();
        },
      };
    },
  };
}

function columnOf(rows: readonly Row[]): string[] {
  return rows.map(([text]) => String(text));
}
