import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { portOf } from '../support/listening.ts';
import { until } from '../support/until.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** One end of a connection, and what has become of it. */
class End {
  readonly socket: Socket;
  got = '';
  fate = 'open';

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => (this.got += bytes));
    socket.on('end', () => (this.fate = 'ended'));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => (this.fate = `${code}`));
  }
}

type Pair = { readonly near: End; readonly far: End };

describe('a proxy', () => {
  let server: Server;
  let proxy: TcpProxy;
  const arrived: End[] = [];
  const dialled: End[] = [];

  beforeEach(async () => {
    server = createServer((socket) => void arrived.push(new End(socket)));
    proxy = await TcpProxy.start(await portOf(server), 'mark');
  });

  afterEach(() => {
    for (const { socket } of [...arrived.splice(0), ...dialled.splice(0)]) socket.destroy();
    proxy.close();
    server.close();
  });

  async function dial(): Promise<Pair> {
    const before = arrived.length;
    const near = new End(connect(proxy.port, proxy.host));
    dialled.push(near);
    await until('arrived', async () => arrived.length > before);
    return { near, far: arrived[before]! };
  }

  async function gets(end: End, text: string): Promise<void> {
    await until(`got ${text}, but ${end.got}`, async () => end.got === text);
  }

  /** Writes, and waits until the proxy has it. */
  async function sends({ near, far }: Pair, from: 'near' | 'far', text: string): Promise<void> {
    const direction = from === 'near' ? proxy.toServer : proxy.toClient;
    const due = direction.reached + text.length;
    (from === 'near' ? near : far).socket.write(text);
    await until('reached the proxy', async () => direction.reached === due);
  }

  it('carries bytes and ends both ways', async () => {
    const { near, far } = await dial();
    near.socket.write('ask');
    await gets(far, 'ask');
    far.socket.end('answer');
    await gets(near, 'answer');
    await until('ended', async () => near.fate === 'ended');
  });

  it('swallows one direction, and what was swallowed never comes', async () => {
    const pair = await dial();
    proxy.toServer.set({ flow: 'swallow' });
    await sends(pair, 'near', 'lost');
    await sends(pair, 'far', 'heard');
    await gets(pair.near, 'heard');
    proxy.toServer.set();
    await sends(pair, 'near', 'found');
    await gets(pair.far, 'found');
  });

  it('swallows the end of a connection too', async () => {
    const gone = await dial();
    proxy.toServer.set({ flow: 'swallow' });
    gone.near.socket.destroy();
    await once(gone.near.socket, 'close');
    proxy.toServer.set();
    // Whatever went to the server after that end would have come after it.
    const pair = await dial();
    await sends(pair, 'near', 'a');
    await gets(pair.far, 'a');
    expect(gone.far.fate).toBe('open');
  });

  it('holds bytes back and delivers them in order when it is healed', async () => {
    const pair = await dial();
    proxy.set({ flow: 'hold' });
    for (const text of ['a', 'b', 'c']) await sends(pair, 'near', text);
    await sends(pair, 'far', 'd');
    expect([pair.far.got, pair.near.got]).toEqual(['', '']);
    proxy.set();
    await gets(pair.far, 'abc');
    await gets(pair.near, 'd');
  });

  it('holds back what is for marked connections alone, or for the others', async () => {
    const [marked, other] = [await dial(), await dial()];
    await sends(marked, 'near', 'a mark');
    proxy.toClient.set({ flow: 'hold', on: 'marked' });
    for (const pair of [marked, other]) await sends(pair, 'far', 'a');
    await gets(other.near, 'a');
    expect(marked.near.got).toBe('');
    proxy.toClient.set({ flow: 'hold', on: 'others' });
    for (const pair of [marked, other]) await sends(pair, 'far', 'b');
    await gets(marked.near, 'ab');
    expect(other.near.got).toBe('a');
  });

  it('delays without changing the order, whatever the delay becomes', async () => {
    const pair = await dial();
    // Long beside the loop of events, so that the quick ones could overtake.
    proxy.toServer.set({ delayMs: 200 });
    await sends(pair, 'near', 'a');
    proxy.toServer.set();
    await sends(pair, 'near', 'b');
    expect(pair.far.got).toBe('');
    await gets(pair.far, 'ab');
  });

  it('cuts a connection after so many bytes, and only one', async () => {
    const [first, second] = [await dial(), await dial()];
    proxy.toClient.set({ cutAfter: 5 });
    first.far.socket.write('abc');
    await gets(first.near, 'abc');
    first.far.socket.write('defg');
    await until('cut', async () => first.near.fate !== 'open');
    expect(first.near.got).toBe('abcde');
    second.far.socket.write('abcdefg');
    await gets(second.near, 'abcdefg');
  });

  it('refuses new connections, and those there are stay', async () => {
    const pair = await dial();
    proxy.refuse();
    const refused = new End(connect(proxy.port, proxy.host));
    await until('refused', async () => refused.fate === 'ECONNREFUSED');
    pair.near.socket.write('a');
    await gets(pair.far, 'a');
    await proxy.accept();
    const other = await dial();
    other.near.socket.write('b');
    await gets(other.far, 'b');
  });

  it('resets connections at both ends', async () => {
    const { near, far } = await dial();
    proxy.reset();
    await until('reset', async () => `${near.fate} ${far.fate}` === 'ECONNRESET ECONNRESET');
  });

  it('leaves connections half open: the server sees the end, the client does not', async () => {
    const old = await dial();
    proxy.halfOpen();
    await until('ended', async () => old.far.fate !== 'open');
    await sends(old, 'near', 'into the void');
    const fresh = await dial();
    await sends(fresh, 'near', 'a');
    await gets(fresh.far, 'a');
    expect(old.near.fate).toBe('open');
    expect(old.far.got).toBe('');
  });
});
