/** Who waits for what on a server. */
import { sleep } from '../../methods/faults/bed.ts';
import type { MysqlServer } from '../../servers/mysql-server.ts';

/** Somebody waits for the lock of a row. */
export async function waitsForRow(server: MysqlServer): Promise<boolean> {
  // The server looks anew only if nobody has asked for a tenth of a second.
  await sleep(150);
  const waiting = "select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
  return (await server.query(waiting)).length > 0;
}

/** This session, or any, waits for a named lock. */
export async function waitsAtGate(server: MysqlServer, session?: number): Promise<boolean> {
  const waiting = "select id as id from information_schema.processlist where state = 'User lock'";
  const sessions = await server.query<{ readonly id: number }>(waiting);
  return sessions.some(({ id }) => session === undefined || id === session);
}
