/** The statements on the tables, over connections of a client package. */
import { Answer } from '../../base/answer.ts';
import { first } from '../../clients/abortable.ts';
import type { ConnectPostgres } from '../../clients/postgres/connection.ts';
import { judge } from '../../clients/postgres/errors.ts';
import { columnOf, type TextRow } from '../../clients/sql/session.ts';
import { SQL_SERVER, type SqlSource } from '../sql/link.ts';
import { literal } from './fragments.ts';
import { GivenUp } from './given-up.ts';
import { settle } from './history.ts';
import { check, type OpeningParts, within } from './opening.ts';
import { statementsOf } from './statements.ts';

/** Where a program stands still in a transaction, the server ends its session. */
const BEGIN = 'BEGIN; SET LOCAL idle_in_transaction_session_timeout = 1000; ';
/** How long to wait in line for one row, which is hot but moves, in ms. */
const LINE_MS = 250;

/** The statements that follow in a transaction. */
const IN_TRANSACTION = ['write_locked', 'rollback'];

export function sourceOf(connect: ConnectPostgres, parts: OpeningParts): SqlSource {
  const texts = statementsOf(parts.schema);
  const givenUp = new GivenUp();
  return {
    ...SQL_SERVER,
    judge,
    async open(terms) {
      const connection = await connect(terms);
      const prelude = await first(connection, terms.signal, async () => {
        const found = await check(connection, parts);
        if (found === '') await givenUp.check(connection);
        return found;
      });
      const direct = prelude === '';
      const session = within(prelude, connection);
      let busy = false;
      const simply = (text: string): Promise<readonly TextRow[]> => connection.query({ text });
      const ask = (statement: string, values: readonly string[]): Promise<readonly TextRow[]> => {
        if (statement === 'settle') return settle(session, parts).then(() => []);
        const text = texts[statement] ?? '';
        if (statement === 'lock') {
          const line = `SET LOCAL lock_timeout = ${LINE_MS}; `;
          return simply(`${BEGIN}${prelude}${line}${literal(text, values)}`);
        }
        if (IN_TRANSACTION.includes(statement)) return simply(literal(text, values));
        if (!direct) return simply(`${prelude}${literal(text, values)}`);
        return connection.query({ text, values, name: `holdfast_${statement}` });
      };
      return {
        call(statement, values) {
          busy = true;
          const over = (): void => {
            busy = false;
          };
          return Answer.from(ask(statement, values)).always(over).map(columnOf);
        },
        listen: direct ? (channel) => simply(`LISTEN "${channel}"`) : undefined,
        ping: () => simply('SELECT 1'),
        unref: () => connection.unref(),
        close() {
          if (busy && direct) givenUp.add(Number(connection.pid));
          connection.end();
        },
      };
    },
  };
}
