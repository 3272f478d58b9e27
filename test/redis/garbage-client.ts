/**
 * Asks a server of garbage and reports what became of it, as JSON: `package seed answers`. In a
 * process of its own, because an exception that nobody catches must be seen, and ends a process.
 */
import type { StoreError } from '../../src/errors.ts';
import { answers, GarbageServer } from './garbage-server.ts';
import { Links, packages } from './packages.ts';

/** So many ask at once, each on a connection of its own. */
const ASKING = 40;
/** Longer than any time-out of the link, even on a busy machine. */
const HANG_MS = 20_000;

const [, , name = '', seed = '', count = ''] = process.argv;
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

const server = await GarbageServer.start(answers(Number(seed), Number(count)));
{
  await using links = new Links();
  await Promise.all(
    Array.from({ length: ASKING }, async () => {
      const link = links.to(
        (its as (typeof packages)[0]).server({ host: '127.0.0.1', port: server.port }),
      );
      while (server.given < Number(count)) {
        const asked =
          Math.random() < 0.5
            ? link.send('k', ['ASK', 'x'])
            : link.sendAll('k', [['ASK'], ['ASK']]);
        await judged(asked);
      }
    }),
  );
}
await new Promise((resolve) => setTimeout(resolve, 300));
console.log(JSON.stringify({ ...report, given: server.given, left: server.open }));
await server.close();

async function judged(asked: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<'hung'>((resolve) => {
    timer = setTimeout(() => resolve('hung'), HANG_MS);
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
