/**
 * What it costs that scripts make sure that the server has not lost its data: a claim and a release
 * as the store sends them, beside the same scripts without the question for the server's identity.
 * The times are the server's own.
 */
import { createLocks } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { median, report, shuffled } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';

const ROUNDS = 15;
const PAIRS = 400;
const VARIANTS = ['as they are', 'without the question'] as const;

const QUESTION = /local replication = call\('INFO', 'replication'\)\n[\s\S]*?\nlocal record = /;

export async function measure([{ url }]: readonly [Place]): Promise<void> {
  const client = new Redis(url);
  const identity = /^master_replid:(\w+)/m.exec(await client.info('replication'))?.[1];
  const known = `local at, none, data = 1, string.rep('0', 40), '${identity}'\nlocal record = `;
  // The server knows the scripts already if another figure was measured before.
  await client.script('FLUSH');
  const { texts, verbs } = await recorded(url);
  const cut = new Map<string, string>();
  for (const [sha, text] of texts) {
    if (!QUESTION.test(text)) throw new Error('The scripts no longer ask.');
    cut.set(sha, String(await client.script('LOAD', text.replace(QUESTION, known))));
  }
  const micros = new Map(VARIANTS.map((variant) => [variant, [] as number[]]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const variant of shuffled(VARIANTS)) {
      const pair = verbs.map(([sha = '', ...args]) => [
        variant === 'as they are' ? sha : (cut.get(sha) ?? sha),
        ...args,
      ]);
      const before = await usec(client);
      for (let n = 0; n < PAIRS; n++) {
        await Promise.all(pair.map((args) => client.call('EVALSHA', args)));
      }
      const each = ((await usec(client)) - before) / PAIRS;
      // The first round warms up.
      if (round > 0) micros.get(variant)?.push(each);
    }
  }
  for (const [variant, own] of micros) {
    const measured = { 'server µs a pair': median(own) };
    report({ what: `claim and release, ${variant}`, measured });
  }
  client.disconnect();
}

/** The texts of the scripts, and one claim with its release as they were sent. */
async function recorded(url: string): Promise<{ texts: Map<string, string>; verbs: string[][] }> {
  const texts = new Map<string, string>();
  const sent: string[][] = [];
  const call = Redis.prototype.call as (name: string, values: string[]) => Promise<unknown>;
  Redis.prototype.call = async function recording(this: Redis, ...args: unknown[]) {
    const [name, values] = args as [string, string[]];
    sent.push(values);
    const reply = await call.call(this, name, values);
    if (name === 'SCRIPT' && values[1] !== undefined) texts.set(String(reply), values[1]);
    return reply;
  };
  const client = new Redis(url);
  const locks = createLocks(redisStore(client));
  for (let n = 0; n < 2; n++) await (await locks.mutex('identity').acquire()).release();
  await locks.close();
  await client.quit();
  Redis.prototype.call = call as typeof Redis.prototype.call;
  return { texts, verbs: sent.slice(-2) };
}

/** What scripts have taken so far, in µs of the server's time. */
async function usec(client: Redis): Promise<number> {
  const stats = await client.info('commandstats');
  return Number(/^cmdstat_evalsha:calls=\d+,usec=(\d+)/m.exec(stats)?.[1]);
}
