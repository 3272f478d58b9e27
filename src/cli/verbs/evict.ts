import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import type { Queue } from '../../contract/store.ts';
import { type EvictOptions, evict, readEvict } from '../../operators/evict.ts';
import { ALONE, type Arguments, type CliVerb, COMMON, misuse, VALUE } from '../arguments.ts';
import { openLocks } from '../open-locks.ts';
import { plain, print, printJson, quote } from '../output.ts';
import { ExitError, STATUS } from '../process/exit-status.ts';
import { memberLine } from '../queue-view.ts';

export const verb: CliVerb = {
  help: `Usage: holdfast evict NAME --token N --reason TEXT [--now] [--yes]

Takes a lock away from a holder, or removes a waiter from the queue. An evicted holder
learns of it with its next heartbeat, and its lock ends with its TTL at the latest.

  --token N      of the claim to evict: 'holdfast show NAME' lists them
  --reason TEXT  why; the evicted holder or waiter gets this text
  --now          ends it at once; the next holder may begin while the old work goes on, and only
                 a fence protects the data then
  --yes          does not ask; without a terminal it never asks
  --store URL    sqlite:FILE, postgres://HOST, etcd://HOST, …; default $HOLDFAST_STORE or a file
  --json

Exit status: 0 if it was evicted, 1 if not.
`,
  flags: { ...COMMON, token: VALUE, reason: VALUE, now: ALONE, yes: ALONE },
  async run(given) {
    const name = given.name();
    const token = tokenOf(given);
    const reason = given.text('reason');
    if (!reason)
      throw misuse('--reason is missing: say why; the evicted holder or waiter gets this text');
    const options = readEvict({ token, reason, now: given.has('now') });
    const locks = await openLocks(given, { looks: true });
    const asks = isatty(0) && isatty(2) && !given.has('yes');
    if (asks && !(await agreed(await locks.inspect(name), options))) return STATUS.none;
    const evicted = await evict(locks, name, options);
    const status = evicted ? 0 : STATUS.none;
    if (given.has('json')) await printJson({ resource: name, token: `${token}`, evicted }, status);
    else if (evicted) await print(`Evicted from ${plain(name)}: ${token}\n`);
    else throw noClaim(name, token);
    return status;
  },
};

function tokenOf(given: Arguments): bigint {
  const text = given.text('token');
  if (text === undefined) throw misuse(`--token is missing: 'holdfast show NAME' lists them`);
  if (/^\d{1,30}$/.test(text)) return BigInt(text);
  throw misuse(`--token takes a number as 'holdfast show' prints it, not ${quote(text)}`);
}

async function agreed(queue: Queue, { token, now }: EvictOptions): Promise<boolean> {
  const member = [...queue.holders, ...queue.waiters].find(({ number }) => number === token);
  if (!member) throw noClaim(queue.resource, token);
  const how = now ? ' at once (only a fence protects then)' : '';
  const question = `Evict ${memberLine(member, queue)} from ${plain(queue.resource)}${how}? [y/N] `;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const aborter = new AbortController();
  terminal.once('close', () => aborter.abort());
  const answer = await terminal.question(question, aborter).catch(() => '');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function noClaim(name: string, token: bigint): ExitError {
  return new ExitError(STATUS.none, `No claim on ${quote(name)} has token ${token}.`);
}
