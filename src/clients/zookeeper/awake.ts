/**
 * Whether a server reads what it is sent, before it is greeted in the name of a session again.
 *
 * A server that stands still lets clients connect, and its machine keeps what they send. Once it
 * goes on, it may read the greeting of a client that has given up first, take its session over,
 * and then carry out a create that was sent to it before, long after the client has looked for the
 * node over another server, and has made another. No program would delete the first one.
 * So a client asks with a word that every server answers, on a connection of its own. A server that
 * answers also reads what came before, and the leader refuses whatever the session had left there,
 * since the session is elsewhere. With TLS, the handshake shows as much.
 * What would break it: a server that answers, and has not passed the older request on when the
 * greeting comes, a round trip later; each has a thread of its own there.
 */
import type { ConnectionOptions } from 'node:tls';
import { abortable, limited } from '../abortable.ts';
import type { ZookeeperHost } from './address.ts';
import { socketTo } from './link.ts';

/** Of ZooKeeper's commands of four letters the one that needs no configuration. */
const WORD = 'srvr';

export interface AwakeTerms {
  readonly tls?: ConnectionOptions | undefined;
  readonly limitMs: number;
  readonly signal?: AbortSignal;
  readonly idle?: boolean;
}

/** What the server says. Rejects unless it ends the connection in time, as any that goes on. */
export function awake(at: ZookeeperHost, terms: AwakeTerms): Promise<string> {
  const { tls, limitMs, signal, idle = false } = terms;
  const socket = socketTo({ ...at, ip: at.host }, tls);
  if (idle) socket.unref();
  let said = '';
  const ended = new Promise<string>((resolve, reject) => {
    socket.once(tls ? 'secureConnect' : 'connect', () => void socket.write(WORD));
    socket.on('data', (chunk) => {
      said += chunk;
    });
    socket.on('error', reject).once('close', () => resolve(said));
  });
  const answered = limited(limitMs, signal ? [signal] : [], (each) => abortable(each, ended));
  return answered.finally(() => void socket.destroy());
}
