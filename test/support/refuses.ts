import { connect } from 'node:net';

/**
 * Whether a server accepts no new connection any more. Requests do not tell: one that was under way
 * as the server closed has left its connection open, and each that follows on it keeps it so.
 */
export function refuses(url: string): Promise<boolean> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port) });
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  }).finally(() => socket.destroy());
}
