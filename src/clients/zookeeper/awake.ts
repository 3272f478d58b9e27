/**
 * Whether a server reads what it is sent, before it is greeted in the name of a session again.
 *
 * A server that stands still lets clients connect, and its machine keeps what they send. Once it
 * goes on, it may read the greeting of a client that has given up first, take its session over,
 * and then carry out a create that was sent to it before, long after the client has looked for the
 * node over another server, and has made another. Nobody would delete the first one.
 * So a client asks with a word that every server answers, on a connection of its own. A server that
 * answers also reads what came before, and the leader refuses whatever the session had left there,
 * since the session is elsewhere. With TLS, the handshake shows as much.
 * What would break it: a server that answers, and has not passed the older request on when the
 * greeting comes, a round trip later; each has a thread of its own there.
 */
import { connect } from 'node:net';
import { onAbort } from '../../base/aborts.ts';
import type { Clock } from '../../base/clock.ts';
import { afterInput } from '../../base/event-loop.ts';
import type { ResolvedHost } from './hosts.ts';

/** Of ZooKeeper's commands of four letters the one that needs no configuration. */
const WORD = 'srvr';

export interface AwakeTerms {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Rejects if it neither answers nor ends the connection in time. */
export function awake({ ip, port }: ResolvedHost, terms: AwakeTerms): Promise<void> {
  const { clock, limitMs, signal } = terms;
  const socket = connect({ host: ip, port, noDelay: true }, () => void socket.write(WORD));
  socket.unref();
  const answered = new Promise<void>((resolve, reject) => {
    const late = (): void => reject(new Error(`no answer in ${Math.round(limitMs)} ms`));
    const timer = clock.setTimeout(() => afterInput(late, clock), limitMs);
    timer.unref();
    const forget = onAbort(signal, () => reject(new Error('no longer wanted')));
    socket.on('error', reject).once('data', () => resolve());
    socket.once('close', () => {
      clock.clearTimeout(timer);
      forget();
      // Only a server that goes on ends a connection.
      resolve();
    });
  });
  return answered.finally(() => void socket.destroy());
}
