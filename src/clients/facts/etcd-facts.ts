/**
 * What an etcd server says of itself. No call of its protocol shows a wall clock; the page
 * `/version` does, unless the server has it on another port.
 */
import { readAddress } from '../etcd/address.ts';
import { Calls, type RpcMethod } from '../etcd/calls.ts';
import { EtcdChannels } from '../etcd/channels.ts';
import { empty } from '../etcd/wire/messages.ts';
import { decode, int64, type Message, many, message, plain, text } from '../etcd/wire/protobuf.ts';
import { HttpClient } from '../http/client.ts';
import { timeIn } from '../http/fate.ts';
import { type ClockOffset, clockByDate, type ServerFacts } from './server-facts.ts';

interface Status {
  version: string;
  /** In bytes. */
  size: bigint;
  /** Alarms, and a missing leader. */
  errors: string[];
}

const CLOCK_MS = 2_000;

const statusResponse: Message<Status> = message(() => ({
  version: plain(2, text),
  size: plain(3, int64),
  errors: many(8, text),
}));

const STATUS: RpcMethod<Record<string, never>, Status> = {
  path: '/etcdserverpb.Maintenance/Status',
  request: empty,
  read: (answer) => decode(statusResponse, answer),
};

/** Asks one of the servers. Rejects with a StoreError. */
export async function etcdFacts(address: string): Promise<ServerFacts> {
  const { endpoints, user } = readAddress(address);
  const channels = new EtcdChannels(endpoints);
  try {
    const { version, size, errors } = await new Calls(channels, user).call(STATUS, {});
    const used = `database of ${(Number(size) / 2 ** 20).toFixed(1)} MiB`;
    const clock = await clockAt(channels.current?.endpoint.url).catch(() => undefined);
    return { version: `etcd ${version}, ${used}`, hazards: errors.map(withAdvice), clock };
  } finally {
    channels.close();
  }
}

async function clockAt(url: string | undefined): Promise<ClockOffset | undefined> {
  if (url === undefined) return undefined;
  const client = new HttpClient({ url: new URL(url) });
  const signal = AbortSignal.timeout(CLOCK_MS);
  const ask = async () => timeIn((await client.ask({ path: '/version', signal })).headers);
  return clockByDate(ask).finally(() => client.close());
}

/** Texts of etcd, such as `memberID:10276657743932975437 alarm:NOSPACE `. */
function withAdvice(error: string): string {
  const said = `etcd reports ${error.trim()}`;
  if (!/NOSPACE/.test(error)) return said;
  return `${said}: no lock can be taken; compact, defragment, then run \`etcdctl alarm disarm\``;
}
