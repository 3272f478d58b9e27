/** What a server of ZooKeeper says of itself to the command `srvr`. It tells no wall clock. */
import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls';
import { type Address, destinationOf } from '../zookeeper/address.ts';
import type { ServerFacts } from './server-facts.ts';

/** How long a server may take, in ms. */
const PATIENCE_MS = 2_000;

/** Of the first of the servers that replies. */
export async function zookeeperFacts(address: string): Promise<ServerFacts> {
  const { addresses, tls } = destinationOf(address);
  const asked = addresses.map(async (at) => factsIn(await srvr(at, tls)));
  return Promise.any(asked).catch(({ errors }: AggregateError) => Promise.reject(errors.at(-1)));
}

async function srvr(at: Address, tls: ConnectionOptions | undefined): Promise<string> {
  const named = isIP(at.host) ? {} : { servername: at.host };
  const socket = tls ? connectSecurely({ ...named, ...tls, ...at }) : connect(at);
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    await once(socket, tls ? 'secureConnect' : 'connect', { signal });
    const ended = once(socket, 'end', { signal });
    let said = '';
    socket.on('data', (chunk) => {
      said += chunk;
    });
    socket.write('srvr');
    await ended;
    return said;
  } catch (error) {
    throw signal.aborted ? new Error(`no reply within ${PATIENCE_MS / 1000} s`) : error;
  } finally {
    socket.destroy();
  }
}

function factsIn(said: string): ServerFacts {
  const [, version] = /^Zookeeper version: ([\d.]+)/m.exec(said) ?? [];
  const [, mode] = /^Mode: (\S+)/m.exec(said) ?? [];
  if (version && mode) return { version: `ZooKeeper ${version}, ${mode}` };
  if (/not currently serving/.test(said)) throw new Error('the server has no quorum to serve with');
  throw new Error('the server does not answer `srvr`; see its 4lw.commands.whitelist');
}
