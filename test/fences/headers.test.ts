/** What a request tells of a lease, over real HTTP and in all forms that headers have. */
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createLocks, type FencingToken } from 'holdfast';
import { type FenceFromOptions, fenceFrom, fenceHeaders, type RequestSource } from 'holdfast/fence';
import { memoryStore } from 'holdfast/memory';
import { describe, expect, onTestFinished, test } from 'vitest';

const LEASES: readonly FencingToken[] = [
  { resource: 'stock', lineage: 'redis:holdfast', kind: 'mutex', token: 1n },
  { resource: 'a b/ß%2F,;="\r\n\0', lineage: '\u{1f512}', kind: 'write', token: 2n ** 63n - 1n },
  { resource: 'ß'.repeat(320), lineage: '\u{10ffff}', kind: 'read', token: 34n },
  { resource: "!'()*~%", lineage: ' ', kind: 'permits', token: 7n },
];
const secret = 'a secret of sixteen bytes';
const [lease] = LEASES as [FencingToken];

function refusal(source: unknown, options?: FenceFromOptions): unknown {
  try {
    return fenceFrom(source as RequestSource, options);
  } catch (error) {
    const { code, reason } = error as { code: string; reason?: string };
    return reason === undefined ? code : `${code} ${reason}`;
  }
}

/** A service that answers what its requests tell of. */
async function service(answer: (request: IncomingMessage) => unknown): Promise<AddressInfo> {
  const server = createServer((request, response) => {
    response.end(JSON.stringify(answer(request), (_, v) => (typeof v === 'bigint' ? `${v}` : v)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return server.address() as AddressInfo;
}

describe.each([[{}], [{ secret }], [{ secret: new Uint8Array(32) }]])('with %o', (options) => {
  test.each(LEASES)('%# comes as it was sent', async (sent) => {
    const headers = fenceHeaders(sent, options);
    for (const text of Object.values(headers)) expect(text).toMatch(/^[!-~]+$/);
    const upper = Object.entries(headers).map(([name, text]) => [name.toUpperCase(), text]);
    for (const source of [
      ...[headers, { headers }, new Headers(headers), Object.fromEntries(upper)],
      ...[new Request('http://a.example', { headers }), { headers: { ...headers, cookie: ['a'] } }],
      Object.fromEntries(upper.map(([name, text]) => [name, [text]])),
    ]) {
      expect(fenceFrom(source as RequestSource, options)).toEqual(sent);
    }
    const { port } = await service((request) => fenceFrom(request, options));
    const response = await fetch(`http://127.0.0.1:${port}`, { headers });
    expect(await response.json()).toEqual({ ...sent, token: String(sent.token) });
  });
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
    for (const bad of [
      '',
      ' ',
      `${text} `,
      `${text}, ${text}`,
      `${text},`,
      '%',
      '%zz',
      'a b',
      'ß',
    ]) {
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
  const { port } = await service((request) => refusal(request));
  const lines = Object.entries(good).map(([name, text]) => `${name}: ${text}`);
  const twice = [...lines, lines[3]].join('\r\n');
  const socket = connect(port, '127.0.0.1');
  socket.end(`GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${twice}\r\n\r\n`);
  let said = '';
  for await (const chunk of socket) said += chunk;
  expect(said).toContain('FENCE_HEADERS malformed');
});

test('what was not signed with the secret, or changed since, is forged', () => {
  const good = fenceHeaders(lease, { secret });
  expect(fenceFrom(good, { secret: ['another secret of mine', secret] })).toEqual(lease);
  // Who asks for no signature takes it as it is.
  expect(fenceFrom(good)).toEqual(lease);
  const signature = good['holdfast-signature'] ?? '';
  for (const change of [
    { 'holdfast-token': '2' },
    { 'holdfast-resource': 'stoc' },
    { 'holdfast-lineage': 'redis%3Aholdfas' },
    { 'holdfast-kind': 'write' },
    { 'holdfast-kind': undefined, 'holdfast-signature': signature },
    { 'holdfast-signature': undefined },
    { 'holdfast-signature': '' },
    { 'holdfast-signature': `${signature}=` },
    { 'holdfast-signature': signature.toLowerCase() },
    { 'holdfast-signature': fenceHeaders(lease, { secret: `${secret}.` })['holdfast-signature'] },
  ]) {
    const wanted = 'holdfast-kind' in change && change['holdfast-kind'] === undefined;
    const found = refusal({ ...good, ...change }, { secret });
    expect(found).toBe(wanted ? 'FENCE_HEADERS missing' : 'FENCE_HEADERS forged');
  }
  expect(refusal(fenceHeaders(lease), { secret })).toBe('FENCE_HEADERS forged');
});

test('another lock, or another store, is foreign', () => {
  const headers = fenceHeaders(lease);
  const { resource, lineage } = lease;
  expect(fenceFrom(headers, { resource, lineage })).toEqual(lease);
  expect(refusal(headers, { resource: 'stoc' })).toBe('FENCE_HEADERS foreign');
  expect(refusal(headers, { lineage: 'redis:other' })).toBe('FENCE_HEADERS foreign');
});

test('what is no request, no option or no secret is a mistake of the program', () => {
  for (const source of [undefined, null, 'holdfast-token: 1', 5]) {
    expect(refusal(source)).toBe('USAGE');
  }
  expect(refusal({ ...fenceHeaders(lease), 'holdfast-token': 5 })).toBe('USAGE');
  expect(refusal({}, { secrets: secret } as FenceFromOptions)).toBe('USAGE');
  for (const option of ['resource', 'lineage', 'secret'] as const) {
    // As an environment has it that lacks the secret: nobody is let in instead of everybody.
    for (const bad of [undefined, null, 5]) {
      const options = { [option]: bad } as FenceFromOptions;
      expect(refusal(fenceHeaders(lease), options), `${option}: ${bad}`).toBe('USAGE');
    }
  }
  const none = { secret: undefined } as unknown as { secret: string };
  expect(() => fenceHeaders(lease, none)).toThrow(/secret is undefined/);
  for (const bad of ['short', '', 5, null, [], [secret, 'short'], new Uint8Array(15)]) {
    expect(refusal(fenceHeaders(lease), { secret: bad as string })).toBe('USAGE');
    const usage = expect.objectContaining({
      code: 'USAGE',
      message: expect.not.stringMatching(secret),
    });
    expect(() => fenceHeaders(lease, { secret: bad as string })).toThrow(usage);
  }
  expect(() => fenceHeaders({ ...lease, token: 0n })).toThrow(/fencing token/);
});
