/** Servers that a test has just set up have nothing to lose, which they cannot know. */
import type { RedisServer } from '../../servers/redis-server.ts';

/** Where a record says from when on there are grants, and such a moment long ago. */
const OPEN_AT = 41;
const LONG_AGO = '0000100000000';

/** Ends the quarantines that the records of these primaries tell of, of any namespace. */
export async function settle(...servers: readonly RedisServer[]): Promise<void> {
  for (const server of servers) {
    for (const key of (await server.command('KEYS', '*!store*')) as string[]) {
      await server.command('SETRANGE', key, OPEN_AT, LONG_AGO);
    }
  }
}
