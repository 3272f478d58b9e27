/**
 * Pairs of names that are nearly the same, on every store.
 *
 * Two different names are two locks: both can be held at once. The same name is the same lock: a
 * second try is refused. What `inspect` and `list` give back is exactly the name. A prefix is just
 * put before the name, so 'a' before 'bc' and 'ab' before 'c' name one lock, by design.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createLocks, isLockError, type Store } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { sqliteStore } from 'holdfast/sqlite';
import type { Claim } from 'holdfast/store';
import { isName } from './rules.ts';

/** Each opens in a folder of its own, which goes with it. */
export const STORES: Readonly<Record<string, (folder: string) => Store>> = {
  memory: () => memoryStore(),
  sqlite: (folder) => sqliteStore(join(folder, 'names.db')),
};

/** What names are made of: everything that some layer may fold, cut, escape or mistake. */
const PIECES = [
  ...['a', 'A', 'b', 'aa', 'é', 'e\u0301', 'É', 'ß', 'ss', 'ẞ', 'ı', 'i', 'I', 'İ', 'ﬁ', 'fi'],
  ...['Å', '\u212b', 'A\u030a', 'ω', 'Ω', '\u2126', 'а', 'ａ', '①', '1', '١', '01', '1.0', '1e0'],
  ...[' ', '\t', '\n', '\r\n', '\u00a0', '\u2028', '\u3000', '\0', '\u0001', '\u00010', '\u00011'],
  ...['/', '\\', ':', '%', '_', '*', '?', '.', '..', '-', '|', '#', '@', '{', '}', '[', ']', ','],
  ...["'", '"', '`', "';--", '%00', '\\u0000', '\\0', '&amp;', '$a', '{{a}}', 'null', 'true'],
  ...['\u200b', '\u200d', '\ufeff', '\u202e', '\u200f', '\u00ad', '\ufffd', '\uffff', '\ue000'],
  ...[
    '😀',
    '😁',
    '👩‍💻',
    '🏳️‍🌈',
    '\u{10ffff}',
    '__proto__',
    'constructor',
    'p:',
    'shop:',
    'x'.repeat(60),
  ],
];

const piece = fc.constantFrom(...PIECES);

/** Ways to make another name that is nearly the same. */
const CHANGES: readonly ((name: string, other: string) => string)[] = [
  (name, other) => name + other,
  (name, other) => other + name,
  (name) => name.slice(0, -1),
  (name) => name.slice(1),
  (name) => name.toUpperCase(),
  (name) => name.toLowerCase(),
  (name) => name.normalize('NFC'),
  (name) => name.normalize('NFD'),
  (name) => name.normalize('NFKC'),
  (name) => name.trim(),
  (name) => `${name} `,
  (name) => `${name}\0`,
  (name) => `${name}\u0001`,
  (name) => name.replaceAll('\0', '\u00010'),
  (name) => name.replaceAll('/', ':'),
  (name) => encodeURIComponent(name.toWellFormed()),
  (name) => JSON.stringify(name),
  (name, other) => `${name.slice(0, 3)}${other}${name.slice(3)}`,
  (name) => [...name].reverse().join(''),
  (name, other) => `${'y'.repeat(512 - 20)}${name.slice(0, 4)}${other.slice(0, 1)}`,
  (name) => name.replace(/[\ud800-\udbff]/, ''),
  (name) => `${name.slice(0, 1)}\ud800`,
  (name) => name.repeat(40),
];

/** A name, and another that is made of it or stands beside it. */
const pair: fc.Arbitrary<readonly [string, string]> = fc
  .tuple(
    fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')),
    fc.constantFrom(...CHANGES),
    piece,
    fc.boolean(),
  )
  .map(([name, change, other, long]) => {
    const base = long ? 'y'.repeat(480) + name : name;
    return [base, change(base, other)];
  });

const BATCH = 50;

/** Prefixes that end where names may begin. */
const prefix = fc.constantFrom('', 'p:', 'a', '\0', '\u0001', 'é', '%', '_', 'x'.repeat(128));

function claimOf(resource: string): Claim {
  const holder = { host: 'fuzz', pid: process.pid, since: 0 };
  const id = randomBytes(16).toString('hex');
  const base = { kind: 'mutex', permits: 1, limit: 1, ttlMs: 30_000, queue: false } as const;
  return { ...base, resource, id, holder };
}

/** @throws Error with the names that it is about. */
function demand(good: boolean, what: string, names: unknown): asserts good {
  if (!good) throw new Error(`${what}: ${JSON.stringify(names)}`);
}

async function playBatch(
  store: Store,
  before: string,
  pairs: readonly (readonly [string, string])[],
): Promise<void> {
  const locks = createLocks(store, { prefix: before });
  for (const name of new Set(pairs.flat())) {
    const refused = refuses(() => locks.mutex(name));
    demand(refused === !isName(name), refused ? 'refused' : 'accepted', name);
  }
  const names = [...new Set(pairs.flat().filter(isName))].map((name) => before + name);
  const claims = names.map(claimOf);
  for (let i = 0; i < names.length; i += 100) {
    await playNames(store, names.slice(i, i + 100), claims.slice(i, i + 100));
  }
  const listed: string[] = [];
  for await (const name of store.list?.('') ?? []) listed.push(name);
  demand(same(listed, names), 'the list is not what is held', { listed, names });
  const part = [...(names[0] ?? '')].slice(0, 2).join('');
  const found: string[] = [];
  for await (const name of store.list?.(part) ?? []) found.push(name);
  const expected = names.filter((name) => name.startsWith(part));
  demand(same(found, expected), 'the list of a prefix is another', { part, found, expected });
  for (let i = 0; i < claims.length; i += 100) {
    const left = await store.release(claims.slice(i, i + 100));
    demand(left.every(Boolean), 'not released', names);
  }
}

async function playNames(
  store: Store,
  names: readonly string[],
  claims: readonly Claim[],
): Promise<void> {
  const taken = await store.claim(claims);
  taken.forEach(({ state }, i) => demand(state === 'held', 'two names share a lock', names[i]));
  const again = await store.claim(names.map(claimOf));
  again.forEach(({ state }, i) => demand(state === 'gone', 'one name is two locks', names[i]));
  const [first = ''] = names;
  const { resource, holders } = await store.inspect(first);
  const status = taken[0];
  const token = status?.state === 'held' ? status.token : undefined;
  const own = holders.length === 1 && holders[0]?.number === token;
  demand(resource === first && own, 'inspect tells of another', { first, resource });
}

function refuses(call: () => unknown): boolean {
  try {
    call();
    return false;
  } catch (error) {
    if (isLockError(error, 'USAGE')) return true;
    throw error;
  }
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && [...a].sort().join('\n\n') === [...b].sort().join('\n\n');
}

/** Plays so many pairs of different names on each store. */
export async function playNamePairs(pairs: number, seed: number, path?: string): Promise<void> {
  for (const [name, open] of Object.entries(STORES)) {
    const folder = mkdtempSync(join(tmpdir(), `holdfast-names-${name}-`));
    const store = open(folder);
    try {
      const different = pair.filter(([a, b]) => a !== b);
      const batches = fc.array(different, { minLength: BATCH, maxLength: BATCH });
      const property = fc.asyncProperty(prefix, batches, (before, batch) =>
        playBatch(store, before, batch),
      );
      const how = path === undefined ? { numRuns: Math.ceil(pairs / BATCH) } : { path };
      await fc.assert(property, { seed, endOnFailure: true, ...how });
    } finally {
      await store.close?.();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
