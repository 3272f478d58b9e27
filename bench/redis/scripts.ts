/**
 * What it costs that scripts make sure that the server has not lost its data: a claim and a release
 * as the store sends them, beside the same scripts without the question for the server's identity.
 * The times are the server's own.
 */
import { createLocks } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { TTL_MS } from '../contender.ts';
import { median, report, shuffled } from '../result.ts';
import { serverUrl } from './server.ts';

const FIGURE = 'redis/scripts';
const ROUNDS = 15;
const PAIRS = 400;

const QUESTION = /local replication = call\('INFO', 'replication'\)\n[\s\S]*?\nlocal record = /;
const client = new Redis(serverUrl());
const identity = /^master_replid:(\w+)/m.exec(await client.info('replication'))?.[1];
const ANSWER = `local replication, data = '', '${identity}'\nlocal record = `;
const { texts, verbs } = await recorded();
const withoutQuestion = new Map<string, string>();
for (const [sha, text] of texts) {
  if (!QUESTION.test(text)) throw new Error('The scripts no longer ask.');
  const cut = text.replace(QUESTION, ANSWER);
  withoutQuestion.set(sha, String(await client.script('LOAD', cut)));
}

const micros = new Map<string, number[]>();
const VARIANTS = ['as they are', 'without the question'];
for (let round = 0; round <= ROUNDS; round++) {
  for (const variant of shuffled(VARIANTS)) {
    const pair = verbs.map(([sha = '', ...args]) => [
      variant === 'as they are' ? sha : (withoutQuestion.get(sha) ?? sha),
      ...args,
    ]);
    const before = await usec();
    for (let n = 0; n < PAIRS; n++) {
      await Promise.all(pair.map((args) => client.call('EVALSHA', args)));
    }
    const own = micros.get(variant) ?? [];
    micros.set(variant, own);
    // The first round warms up.
    if (round > 0) own.push(((await usec()) - before) / PAIRS);
  }
}
for (const variant of VARIANTS) {
  report({
    figure: FIGURE,
    what: `claim and release, ${variant}`,
    measured: { 'server µs a pair': median(micros.get(variant) ?? []) },
  });
}
client.disconnect();

/** The texts of the scripts, and one claim with its release as they were sent. */
async function recorded(): Promise<{ texts: Map<string, string>; verbs: string[][] }> {
  const texts = new Map<string, string>();
  const sent: string[][] = [];
  const seen = new Redis(serverUrl());
  const duplicate = seen.duplicate.bind(seen);
  seen.duplicate = (override) => {
    const own = duplicate(override);
    const call = own.call.bind(own) as (name: string, args: string[]) => Promise<unknown>;
    own.call = (async (name: string, args: string[]) => {
      sent.push([name, ...args]);
      const reply = await call(name, args);
      if (name === 'SCRIPT' && args[1] !== undefined) texts.set(String(reply), args[1]);
      return reply;
    }) as typeof own.call;
    return own;
  };
  // The server knows the scripts already if another figure was measured before.
  await client.script('FLUSH');
  const locks = createLocks(redisStore(seen, { maxTtl: TTL_MS }));
  for (let n = 0; n < 2; n++) await (await locks.mutex(FIGURE).acquire()).release();
  await locks.close();
  await seen.quit();
  const verbs = sent.slice(-2).map(([, ...args]) => args);
  return { texts, verbs };
}

/** What scripts have taken so far, in µs of the server's time. */
async function usec(): Promise<number> {
  const stats = await client.info('commandstats');
  return Number(/^cmdstat_evalsha:calls=\d+,usec=(\d+)/m.exec(stats)?.[1]);
}
