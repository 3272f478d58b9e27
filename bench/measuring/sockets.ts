/** What this process sends and receives. */
import { Socket } from 'node:net';

const open = new Set<Socket>();
let closed = 0;

/** Every client connects its sockets by this, however it makes them. */
const { connect } = Socket.prototype as unknown as { connect(...args: unknown[]): Socket };
Object.assign(Socket.prototype, {
  connect(this: Socket, ...args: unknown[]): Socket {
    open.add(this);
    this.once('close', () => {
      open.delete(this);
      closed += bytesOf(this);
    });
    return connect.apply(this, args);
  },
});

/** In both directions so far, of sockets that were connected after this module was imported. */
export function socketBytes(): number {
  return [...open].reduce((sum, socket) => sum + bytesOf(socket), closed);
}

function bytesOf({ bytesRead, bytesWritten }: Socket): number {
  return bytesRead + bytesWritten;
}
