/** The statements on the tables, over connections of a client package. */
import { randomId } from '../../base/random-id.ts';
import { first } from '../../clients/abortable.ts';
import { type ConnectMysql, literal } from '../../clients/mysql/connection.ts';
import { judge } from '../../clients/mysql/errors.ts';
import { SQL_SERVER, type SqlSource } from '../sql/link.ts';
import { tablesOf } from './fragments.ts';
import { settle } from './history.ts';
import { check, prepared } from './opening.ts';
import type { Common } from './requests.ts';
import { Verbs } from './verbs.ts';
import { listen, ON_PRIMARY, type WakeSession } from './wake-session.ts';

export interface SourceParts {
  readonly prefix: string;
  readonly maxTtlMs: number;
}

export function sourceOf(client: ConnectMysql, { prefix, maxTtlMs }: SourceParts): SqlSource {
  const connect = prepared(client);
  const common: Common = { tables: tablesOf(prefix), maxTtlMs, stuck: new Map() };
  return {
    ...SQL_SERVER,
    // The server has no messages: all wakes are read from the tables.
    own: true,
    judge,
    async open(terms) {
      const connection = await connect(terms);
      const known = await first(connection, terms.signal, async () => {
        await check(connection);
        return settle(connection, common.tables, maxTtlMs);
      });
      const verbs = new Verbs(connection, common, known);
      let closed = false;
      let own: WakeSession | undefined;
      return {
        call: (statement, args) => verbs.call(statement, args),
        async listen(channel) {
          const gate = `${channel}_${randomId().slice(0, 16)}`;
          const take = `SELECT GET_LOCK(${literal(gate)}, 0) ${ON_PRIMARY}`;
          const [[held] = []] = await connection.query(take);
          // NULL is an error, and no other session knows the name.
          if (held !== '1') throw new Error('GET_LOCK failed');
          own = await listen({ ...terms, connect, tables: common.tables, channel, gate });
          common.wakeSession = own;
          if (closed) own.end();
        },
        ping: () => connection.query('DO 0'),
        unref: () => connection.unref(),
        close() {
          closed = true;
          own?.end();
          connection.end();
        },
      };
    },
  };
}
