import type { Socket } from 'node:net';

/**
 * Resets a connection, or ends it at once where its end is just being sent: libuv refuses to reset
 * it then (`uv_tcp_close_reset`, EINVAL). Node takes the socket for closed all the same, so that it
 * stays open for ever, and the process that has it cannot end: it turns in a loop at its exit.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
