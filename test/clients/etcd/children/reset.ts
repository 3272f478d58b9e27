/** A server ends one of several streams of a connection, and the client gives up the others. */
import { constants, createServer } from 'node:http2';
import { EtcdChannel } from '../../../../src/clients/etcd/channel.ts';
import type { RpcStream } from '../../../../src/clients/etcd/rpc-stream.ts';
import { portOf } from '../../../support/listening.ts';

const server = createServer();
server.on('session', (session) => session.on('error', () => {}));
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  stream.resume();
  if (headers[':path'] === '/ends') stream.close(constants.NGHTTP2_INTERNAL_ERROR);
});
const port = await portOf(server);
const endpoint = { url: `http://127.0.0.1:${port}`, host: '127.0.0.1', port, tls: undefined };
const channel = await EtcdChannel.open(endpoint, new AbortController().signal, () => {});
process.send?.('connected');

let open = 0;

function opened(path: string, ended: () => void): RpcStream | undefined {
  open++;
  const request = { path, metadata: {} };
  return channel.stream(request, {
    message: () => {},
    ended: () => {
      ended();
      if (--open === 0) process.send?.('all have ended');
    },
  });
}

const busy = opened('/stays', () => {});
opened('/ends', () => {
  if (process.argv[2] === 'retires') channel.retire('a stream has ended');
  else channel.destroy('a stream has ended');
})?.write(Buffer.from('a'));

/** So that, whenever input is read, something is about to be sent. */
function keepBusy(): void {
  if (open === 0) return;
  busy?.write(Buffer.from('b'));
  setImmediate(keepBusy);
}
keepBusy();
