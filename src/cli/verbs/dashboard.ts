import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromLoopback, isLoopback } from '../../dashboard/auth.ts';
import { type DashboardOptions, dashboard } from '../../dashboard/index.ts';
import { ready } from '../../operators/ready.ts';
import { ALONE, type Arguments, type CliVerb, COMMON, misuse, VALUE } from '../arguments.ts';
import { openLocks } from '../open-locks.ts';
import { print, printJson } from '../output.ts';
import { ExitError, STATUS } from '../process/exit-status.ts';
import { untilSignal } from '../process/signals.ts';

const VARIABLE = 'HOLDFAST_DASHBOARD_TOKEN';
const DEFAULT_PORT = 8420;

export const verb: CliVerb = {
  help: `Usage: holdfast dashboard [PREFIX] [--port N] [--host ADDRESS] [--evict] [--insecure]

Serves a page that shows all names in use, or those that begin with PREFIX: queues, who waits for
whom, and what happens, live. ${VARIABLE} has the token that opens it, of at least
16 characters.

  --port N        default ${DEFAULT_PORT}; 0 takes a free one
  --host ADDRESS  default 127.0.0.1; others see it only through a proxy with TLS, unless you say so
  --evict         lets those who open it evict holders and waiters; default: read-only
  --insecure      needs no token; only on loopback, where each user of this machine can look
  --store URL     sqlite:FILE, postgres://HOST, etcd://HOST, …; default $HOLDFAST_STORE or a file
  --json
`,
  flags: { ...COMMON, port: VALUE, host: VALUE, evict: ALONE, insecure: ALONE },
  async run(given) {
    const prefix = given.atMost(1) ?? '';
    const host = given.text('host') ?? '127.0.0.1';
    const port = given.whole('port', 0, 65_535) ?? DEFAULT_PORT;
    const auth = authOf(given, host);
    const interrupt = untilSignal();
    const interrupted = once(interrupt, 'abort');
    const locks = await openLocks(given, { looks: true });
    await Promise.race([ready(locks), interrupted]);
    if (interrupt.aborted) return 0;
    const shown = dashboard(locks, { auth, prefix, readOnly: !given.has('evict') });
    const server = createServer(shown);
    const url = await listen(server, host, port);
    if (given.has('json')) await printJson({ url });
    else await print(`${url}\n`);
    await interrupted;
    shown.close();
    server.close();
    server.closeAllConnections();
    await locks.close();
    return 0;
  },
};

function authOf(given: Arguments, host: string): DashboardOptions['auth'] {
  const token = process.env[VARIABLE] ?? '';
  if (!given.has('insecure')) {
    if (token.length >= 16) return token;
    throw misuse(
      `${VARIABLE} needs a token of at least 16 characters, such as 'openssl rand -hex 16' prints`,
    );
  }
  if (isLoopback(host)) return fromLoopback;
  throw misuse('--insecure is only for loopback: --host 127.0.0.1');
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  try {
    await once(server.listen(port, host), 'listening');
  } catch (cause) {
    const why = (cause as Error).message;
    throw new ExitError(STATUS.unreachable, `The dashboard cannot listen: ${why}.`, { cause });
  }
  const { port: bound, address, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/`;
}
