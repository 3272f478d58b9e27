/** What a request tells of a lease, over real HTTP and in all forms that headers have. */
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { createLocks, type FencingToken } from 'holdfast';
import { type FenceFromOptions, fenceFrom, fenceHeaders, type RequestSource } from 'holdfast/fence';
import { memoryStore } from 'holdfast/memory';
import { expect, onTestFinished, test } from 'vitest';
import { portOf } from '../support/listening.ts';

const LEASES: readonly FencingToken[] = [
  { resource: 'stock', lineage: 'redis:holdfast', kind: 'mutex', token: 1n },
  { resource: 'a b/ß%2F,;="\r\n\0', lineage: '\u{1f512}', kind: 'write', token: 2n ** 63n - 1n },
  { resource: 'ß'.repeat(320), lineage: '\u{10ffff}', kind: 'read', token: 34n },
  { resource: "!'()*~%", lineage: ' ', kind: 'permits', token: 7n },
];
const [lease] = LEASES as [FencingToken];

function refusal(source: unknown, options?: FenceFromOptions): unknown {
  try {
    return fenceFrom(source as RequestSource, options);
  } catch (error) {
    const { code, reason } = error as { code: string; reason?: string };
    return reason === undefined ? code : `${code} ${reason}`;
  }
}

/** The port of a service that answers what its requests tell of. */
function serve(answer: (request: IncomingMessage) => unknown): Promise<number> {
  const server = createServer((request, response) => {
    response.end(JSON.stringify(answer(request), (_, v) => (typeof v === 'bigint' ? `${v}` : v)));
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return portOf(server);
}

test.each(LEASES)('%# comes as it was sent', async (sent) => {
  const headers = fenceHeaders(sent);
  for (const text of Object.values(headers)) expect(text).toMatch(/^[!-~]+$/);
  const upper = Object.entries(headers).map(([name, text]) => [name.toUpperCase(), text]);
  for (const source of [
    ...[headers, { headers }, new Headers(headers), Object.fromEntries(upper)],
    ...[new Request('http://a.example', { headers }), { headers: { ...headers, cookie: ['a'] } }],
    Object.fromEntries(upper.map(([name, text]) => [name, [text]])),
  ]) {
    expect(fenceFrom(source as RequestSource)).toEqual(sent);
  }
  const port = await serve((request) => fenceFrom(request));
  const response = await fetch(`http://127.0.0.1:${port}`, { headers });
  expect(await response.json()).toEqual({ ...sent, token: String(sent.token) });
});

test('a lease of locks, and one without a kind', async () => {
  await using locks = createLocks(memoryStore());
  await locks.rwLock('a').write.run(async (held) => {
    const { resource, lineage, token } = held;
    const seen = { resource, lineage, token, kind: 'write' };
    expect(fenceFrom(fenceHeaders(held))).toEqual(seen);
    expect(fenceFrom(fenceHeaders(JSON.parse(JSON.stringify(held))))).toEqual(seen);
  });
  expect(fenceFrom(fenceHeaders({ resource: 'a', lineage: 'b', token: '5' }))).toEqual({
    ...{ resource: 'a', lineage: 'b', token: 5n, kind: 'mutex' },
  });
});

test('one that is missing, malformed or there twice is refused', async () => {
  const good = fenceHeaders(lease);
  for (const name of Object.keys(good)) {
    const { [name]: text = '', ...others } = good;
    expect(refusal(others)).toBe('FENCE_HEADERS missing');
    const longer = [`${text} `, `${text}, ${text}`, `${text},`];
    for (const bad of ['', ' ', ...longer, '%', '%zz', 'a b', 'ß']) {
      const wanted = bad === '' ? /malformed|missing/ : /^FENCE_HEADERS malformed$/;
      expect(refusal({ ...others, [name]: bad }), `${name}: '${bad}'`).toMatch(wanted);
    }
    for (const twice of [
      { ...good, [name.toUpperCase()]: text },
      { ...others, [name]: [text, text] },
    ]) {
      expect(refusal(twice)).toBe('FENCE_HEADERS malformed');
    }
    const headers = new Headers(good);
    headers.append(name, text);
    expect(refusal(headers)).toBe('FENCE_HEADERS malformed');
  }
  for (const [part, texts] of Object.entries({
    // Encoded otherwise, or too much, or bytes that are no text.
    resource: ['%73tock', '%c3%9f', '%2f', '%ED%A0%80', '%FF', 'a+b c', 'a'.repeat(641)],
    lineage: ['%73', 'a'.repeat(513)],
    kind: ['Mutex', 'lock', 'mutex ', 'toString'],
    token: ['0', '-1', '+1', '01', '1.0', '1e3', '0x10', '9223372036854775808', 'NaN', '１'],
  })) {
    for (const text of texts) {
      const headers = { ...good, [`holdfast-${part}`]: text };
      expect(refusal(headers), `${part}: ${text}`).toBe('FENCE_HEADERS malformed');
    }
  }
  const port = await serve((request) => refusal(request));
  const lines = Object.entries(good).map(([name, text]) => `${name}: ${text}`);
  const twice = [...lines, lines[3]].join('\r\n');
  const socket = connect(port, '127.0.0.1');
  socket.end(`GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${twice}\r\n\r\n`);
  let said = '';
  for await (const chunk of socket) said += chunk;
  expect(said).toContain('FENCE_HEADERS malformed');
});

test('another lock is foreign', () => {
  const headers = fenceHeaders(lease);
  expect(fenceFrom(headers, { resource: lease.resource })).toEqual(lease);
  expect(refusal(headers, { resource: 'stoc' })).toBe('FENCE_HEADERS foreign');
});

test('what is no request or no option is a mistake of the program', () => {
  for (const source of [undefined, null, 'holdfast-token: 1', 5]) {
    expect(refusal(source)).toBe('USAGE');
  }
  expect(refusal({ ...fenceHeaders(lease), 'holdfast-token': 5 })).toBe('USAGE');
  expect(refusal({}, { secret: 'mine' } as FenceFromOptions)).toBe('USAGE');
  // As a table has it that lacks the name: no lease is let in instead of any.
  for (const resource of [undefined, null, 5]) {
    const options = { resource } as unknown as FenceFromOptions;
    expect(refusal(fenceHeaders(lease), options), `${resource}`).toBe('USAGE');
  }
  expect(() => fenceHeaders({ ...lease, token: 0n })).toThrow(/fencing token/);
});
