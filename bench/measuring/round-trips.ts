/** Stands between clients and a database, and counts how often they ask and wait for the answer. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

/** What clients send is a row of messages, each with a head that tells its length. */
export interface Protocol {
  /** How long a head is; that of the first message may differ. */
  headOf(first: boolean): number;
  /** Of the message, with its head. */
  lengthOf(head: Buffer): number;
  /** Whether an answer is waited for after it. */
  asks(head: Buffer): boolean;
}

export interface Counter {
  /** Where clients find the database now. */
  readonly url: string;
  trips(): number;
  close(): void;
}

export async function countingProxy(target: string, protocol: Protocol): Promise<Counter> {
  let trips = 0;
  const url = new URL(target);
  const [host, port] = [url.hostname, Number(url.port)];
  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ host, port, noDelay: true });
    client.on(
      'data',
      counting(protocol, () => trips++),
    );
    // Either end takes the other with it.
    pipeline(client, server, client, () => {});
  });
  listener.listen(0, host);
  await once(listener, 'listening');
  url.port = String((listener.address() as AddressInfo).port);
  return { url: url.href, trips: () => trips, close: () => listener.close() };
}

function counting(protocol: Protocol, asked: () => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let first = true;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const length = protocol.headOf(first);
      if (rest.length < length) return;
      const head = rest.subarray(0, length);
      const whole = protocol.lengthOf(head);
      if (rest.length < whole) return;
      if (protocol.asks(head)) asked();
      first = false;
      rest = rest.subarray(whole);
    }
  };
}
