/** Servers that are none of etcd, or have lost their mind: each request ends, and says how. */
import { createServer as createWebServer } from 'node:http';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { createLocks, isLockError, type StoreError } from 'holdfast';
import { etcdStore } from 'holdfast/etcd';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';
import { frame } from '../../../src/clients/etcd/rpc-stream.ts';
import { Chance } from '../../methods/simulation/chance.ts';
import { listening } from '../../support/closing.ts';
import { clientOf, Ear } from './scene.ts';

const GRPC = { ':status': 200, 'content-type': 'application/grpc' };
const WELL = { 'grpc-status': '0' };

type Answer = (stream: ServerHttp2Stream, path: string) => void;

const UNIMPLEMENTED = { 'grpc-status': '12', 'grpc-message': 'unknown service etcdserverpb.KV' };

function oldServer(): Server {
  const headers = { ...GRPC, ...UNIMPLEMENTED };
  return createServer().on('stream', (stream) => stream.respond(headers, { endStream: true }));
}

async function serverThat(answer: Answer): Promise<EtcdClient> {
  const server = createServer();
  server.on('session', (session) => session.on('error', () => {}));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    stream.resume();
    answer(stream, String(headers[':path']));
  });
  return clientOf(`etcd://127.0.0.1:${await listening(server)}`);
}

/** How a request of each kind ends. */
async function endsOf(client: EtcdClient): Promise<StoreError[]> {
  const ear = new Ear(client, { key: 'k' });
  const requests = [
    client.txn({ success: [{ put: { key: 'k', value: '' } }] }),
    client.grant(1000),
    client.keepAlive(1n),
  ];
  const ends = await Promise.allSettled(requests);
  expect(ear.keys).toEqual([]);
  return ends.map((end) => {
    if (end.status === 'fulfilled') throw new Error(`it was answered: ${end.value}`);
    expect(isLockError(end.reason, 'STORE')).toBe(true);
    return end.reason as StoreError;
  });
}

const trailers = (end: Record<string, string>, ...pieces: Buffer[]): Answer => {
  return (stream) => {
    stream.respond(GRPC, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(end));
    for (const piece of pieces) stream.write(piece);
    stream.end();
  };
};
const only = (headers: Record<string, string | number>): Answer => {
  return (stream) => stream.respond(headers, { endStream: true });
};

const unknown: [string, Answer][] = [
  ['says nothing', () => {}],
  ['answers with nothing', trailers(WELL)],
  ['answers with half a message', trailers(WELL, frame(Buffer.from('0a0b', 'hex')).subarray(0, 6))],
  [
    'answers with noise in a frame',
    trailers(WELL, frame(Buffer.from('ffffffffffffffffffffff', 'hex'))),
  ],
  ['answers with a message that lacks its header', trailers(WELL, frame(Buffer.alloc(0)))],
  ['answers with what looks compressed', trailers(WELL, Buffer.from('010000000100', 'hex'))],
  ['announces more than there is memory', trailers(WELL, Buffer.from('00ffffffff00', 'hex'))],
  ['answers without a state', trailers({}, frame(Buffer.alloc(0)))],
  [
    'answers with a page',
    (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html' });
      stream.end('<html>'.repeat(1000));
    },
  ],
  ['resets every stream', (stream) => stream.close(2)],
  ['ends the connection', (stream) => stream.session?.destroy()],
  ['says goodbye for no reason', (stream) => stream.session?.goaway(2, stream.id)],
  ['says goodbye and nothing more', (stream) => stream.session?.goaway(0, stream.id)],
  ['fails inside', only({ ...GRPC, 'grpc-status': '13', 'grpc-message': 'a%20b%' })],
  ['has a state that is no number', only({ ...GRPC, 'grpc-status': 'x' })],
  ['is a gateway whose server is gone', only({ ':status': 503 })],
  [
    'repeats unprintable things',
    only({ ...GRPC, 'grpc-status': '2', 'grpc-message': '%00%0A%FF' }),
  ],
];
const failed: [string, Answer][] = [
  [
    'has no such service',
    only({ ...GRPC, 'grpc-status': '12', 'grpc-message': 'unknown%20service' }),
  ],
  ['has no such page', only({ ':status': 404 })],
  ['says that it has not looked', (stream) => stream.close(7)],
  [
    'is too busy',
    only({ ...GRPC, 'grpc-status': '8', 'grpc-message': 'etcdserver: too many requests' }),
  ],
];

describe('a server that', () => {
  it.each(unknown)('%s leaves open what has become of a write', async (_, answer) => {
    const client = await serverThat(answer);
    await expect(client.txn({ success: [] })).rejects.toMatchObject({ outcome: 'unknown' });
  });

  it.each(failed)('%s has done nothing', async (_, answer) => {
    const client = await serverThat(answer);
    await expect(client.txn({ success: [] })).rejects.toMatchObject({ outcome: 'failed' });
  });

  it('does any of this ends no request otherwise, and no process', async () => {
    const clients = await Promise.all(
      [...unknown, ...failed].map(([, answer]) => serverThat(answer)),
    );
    expect((await Promise.all(clients.map(endsOf))).flat()).toHaveLength(3 * clients.length);
  });

  it('answers no keep-alive in its time is not asked once more', async () => {
    const asked: string[] = [];
    const client = await serverThat((stream, path) => {
      asked.push(path.replace(/.*\//, ''));
      if (!path.endsWith('KeepAlive')) only({ ...GRPC, ...UNIMPLEMENTED })(stream, path);
    });
    await expect(client.keepAlive(1n)).rejects.toMatchObject({ outcome: 'unknown' });
    // What was sent before its answer has arrived before.
    await expect(client.grant(1000)).rejects.toMatchObject({ outcome: 'failed' });
    expect(asked.filter((name) => name !== 'Check')).toEqual(['LeaseKeepAlive', 'LeaseGrant']);
  });

  it('tells of watches that nobody asked for is not believed', async () => {
    const created = frame(Buffer.from('10071801', 'hex'));
    const client = await serverThat((stream, path) => {
      if (!path.endsWith('Watch')) return;
      stream.respond(GRPC);
      for (let n = 0; n < 3; n++) stream.write(created);
    });
    const ear = new Ear(client, { key: 'k' });
    await expect(client.grant(1000)).rejects.toMatchObject({ code: 'STORE' });
    expect([ear.starts, ear.keys]).toEqual([0, []]);
  });

  const plain: [string, (socket: Socket) => void][] = [
    ['speaks HTTP/1', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['says nothing at all', () => {}],
    ['hangs up', (socket) => socket.destroy()],
    ['makes noise', (socket) => socket.write(Buffer.alloc(1000, 'x'))],
    [
      'sends settings that are none',
      (socket) => socket.write(Buffer.from('000005040000000000', 'hex')),
    ],
  ];
  it.each(plain)('%s gets no request', async (_, greet) => {
    const received: Buffer[] = [];
    const server = createPlainServer((socket) => {
      socket.on('data', (bytes) => received.push(bytes));
      greet(socket);
    });
    const port = await listening(server);
    for (const { outcome } of await endsOf(clientOf(`etcd://127.0.0.1:${port}`))) {
      expect(outcome).toBe('failed');
    }
    expect(Buffer.concat(received).toString('latin1')).not.toContain('etcdserverpb');
  });

  it('says nothing keeps no request waiting once the client is closed', async () => {
    const ports = [await listening(createPlainServer()), await listening(createPlainServer())];
    const client = clientOf(ports.map((port) => `127.0.0.1:${port}`));
    // It has tried one of them.
    const asked = client.grant(1000);
    client.close();
    await expect(asked).rejects.toThrow(/is closed/);
  });

  it('is none of etcd, or too old for this API, is called so, and is not asked again', async () => {
    const strangers: [string, Server][] = [
      ['not from etcd', createWebServer((_, response) => response.end('hello'))],
      ['not etcd, or is older', createServer((_, response) => response.writeHead(404).end())],
      ['not from etcd', createServer((_, response) => response.end('hello'))],
      ['not etcd, or is older', oldServer()],
    ];
    for (const [name, server] of strangers) {
      const port = await listening(server);
      const locks = createLocks(etcdStore(`etcd://127.0.0.1:${port}`));
      onTestFinished(() => locks.close());
      const failure = await locks
        .mutex('a')
        .acquire()
        .then(String, (error: StoreError) => error);
      expect(failure).toMatchObject({ code: 'STORE', retryable: false });
      expect(String(failure)).toContain(name);
    }
  });

  it('garbles its answers in any way makes nothing worse than an error', async () => {
    const chance = new Chance(7);
    const good = Buffer.from('0a0a08c7b8a1a50310051805100118c0c407', 'hex');
    const client = await serverThat((stream) => {
      const bytes = Buffer.from(good.subarray(0, 1 + chance.below(good.length)));
      for (let n = chance.below(4); n >= 0; n--)
        bytes[chance.below(bytes.length)] = chance.below(256);
      const framed = chance.below(4) === 0 ? bytes : frame(bytes);
      const cut = chance.below(4) === 0 ? framed.subarray(0, chance.below(framed.length)) : framed;
      trailers(chance.below(3) === 0 ? { 'grpc-status': String(chance.below(20)) } : WELL, cut)(
        stream,
        '',
      );
    });
    let failures = 0;
    for (let n = 0; n < 100; n++) {
      const requests = [
        client.txn({ success: [] }),
        client.grant(1000),
        client.timeToLive(1n),
        client.revoke(1n),
      ];
      for (const end of await Promise.allSettled(requests)) {
        if (end.status === 'fulfilled') continue;
        failures++;
        expect(isLockError(end.reason, 'STORE')).toBe(true);
      }
    }
    expect(failures).toBeGreaterThan(100);
  });
});
