/** A Redis that does not tell all of itself, as rented ones do, and a backup from afar. */
import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { type Command, findProgram } from '../../servers/programs.ts';
import type { RedisServer } from '../../servers/redis-server.ts';

/** How INFO names what a server may hide. */
export type Hidden = 'master_replid' | 'run_id';

/** The program with other words for these fields, in a copy below `folder`. */
export async function hiding(folder: string, ...fields: readonly Hidden[]): Promise<Command> {
  const [first, ...others] = await findProgram('redis');
  const command = [first, ...others];
  const program = realpathSync(command.at(-1) as string);
  let text = readFileSync(program, 'latin1');
  for (const field of fields) text = text.replaceAll(`${field}:%s`, `${field.slice(0, -1)}_:%s`);
  mkdirSync(folder, { recursive: true });
  const copy = join(folder, 'redis-server');
  writeFileSync(copy, text, 'latin1');
  chmodSync(copy, 0o755);
  return others.length === 0 ? [copy] : [first, ...others.slice(0, -1), copy];
}

/** Takes a copy of all data as `redis-cli --rdb` does, and goes away. */
export function backUp({ host, port }: RedisServer): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host, port }, () => socket.write('SYNC\r\n'));
    socket.on('error', reject);
    // Newlines come first, and then how much it is, or a mark of its end.
    socket.on('data', (data) => {
      if (!data.includes('$')) return;
      socket.destroy();
      resolve();
    });
  });
}
