/**
 * Asks a server of garbage until its input ends, and reports what became of it, as JSON:
 * `package port`. In a process of its own: an exception that nobody catches must be seen, and what
 * is left open keeps it from ending.
 */
import type { RedisClient } from '../../../src/clients/redis/client.ts';
import type { StoreError } from '../../../src/contract/errors.ts';
import { HANG_MS } from '../../support/this-run.ts';
import { Links, packages } from './packages.ts';

/** So many ask at once, each on a connection of its own. */
const ASKING = 40;
/** Longer than any time-out of the link, and told before this process is ended for it. */
const HUNG_MS = HANG_MS / 3;

const [, , name = '', port = ''] = process.argv;
const its = packages.find((one) => one.name === name);
if (!its) throw new Error(`there is no package ${name}`);

const report = {
  replies: 0,
  failed: 0,
  unknown: 0,
  wrong: [] as string[],
  uncaught: [] as string[],
};
process.on('unhandledRejection', (reason) => report.wrong.push(`unhandled: ${reason}`));
process.on('uncaughtException', (error) => report.uncaught.push(String(error.stack)));

let asking = true;
process.stdin.resume().once('end', () => (asking = false));

{
  await using links = new Links();
  const ask = async (client: RedisClient): Promise<void> => {
    const link = links.to(client);
    for (let n = 0; asking; n++) {
      await judged(n % 2 ? link.send('k', ['ASK', 'x']) : link.sendAll('k', [['ASK'], ['ASK']]));
    }
  };
  const place = { host: '127.0.0.1', port: Number(port) };
  await Promise.all(Array.from({ length: ASKING }, () => ask(its.server(place))));
}
console.log(JSON.stringify(report));

async function judged(asked: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<'hung'>((resolve) => {
    timer = setTimeout(() => resolve('hung'), HUNG_MS);
  });
  try {
    const result = await Promise.race([asked, hang]);
    if (result === 'hung') report.wrong.push('hung');
    else if (valid(result)) report.replies++;
    else report.wrong.push(`no reply: ${typeof result}`);
  } catch (error) {
    const { code, retryable, outcome } = error as StoreError;
    const typed = code === 'STORE' && typeof retryable === 'boolean';
    if (!typed) report.wrong.push(`no StoreError: ${error}`);
    report[outcome === 'unknown' ? 'unknown' : 'failed']++;
  } finally {
    clearTimeout(timer);
  }
}

function valid(reply: unknown): boolean {
  if (Array.isArray(reply)) return reply.every(valid);
  if (typeof reply === 'object' && reply !== null) return 'refusal' in reply;
  return typeof reply === 'string' || typeof reply === 'number' || reply === null;
}
