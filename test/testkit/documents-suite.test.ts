/** The suite for documents has teeth: it notices each of these faults, and none where is none. */
import { systemClock } from 'holdfast';
import { documentsSuite } from 'holdfast/testkit';
import { expect, test } from 'vitest';
import { StoreError } from '../../src/contract/errors.ts';
import type { Documents } from '../../src/stores/document/documents.ts';
import { Shelf } from '../stores/document/shelf.ts';

type Sound = Required<Documents>;
type Change = (sound: Sound) => Partial<Sound>;

const ALL = ['remove', 'list', 'watch', 'nowMs'] as const;

/** The names of the cases that fail. */
async function failures(change: Change, lose = lost): Promise<string[]> {
  const cases: { readonly name: string; readonly body: () => Promise<void> }[] = [];
  const shelf = new Shelf({ clock: systemClock(), slackMs: 0, watches: true });
  const create = (): Documents => {
    const sound = shelf.connect() as Sound;
    return { ...sound, ...change(sound) };
  };
  documentsSuite({
    ...{ create, has: ALL, noticeMs: 100, skip: () => {} },
    test: (name, body) => cases.push({ name: name.replace('documents: ', ''), body }),
    losing: async () => lose(create()),
  });
  const outcomes = await Promise.allSettled(cases.map(({ body }) => body()));
  return cases.filter((_, n) => outcomes[n]?.status === 'rejected').map(({ name }) => name);
}

/** The next write is carried out, and its reply is lost. */
function lost(documents: Documents, outcome: 'failed' | 'unknown' | 'other' = 'unknown') {
  let losing = false;
  const put: Documents['put'] = async (...args) => {
    const done = await documents.put(...args);
    if (!losing) return done;
    losing = false;
    if (outcome === 'other') return 'other';
    throw new StoreError('It broke.', { retryable: true, outcome });
  };
  return {
    documents: { ...documents, put },
    losing<T>(work: () => Promise<T>): Promise<T> {
      losing = true;
      return work();
    },
    close: async () => {},
  };
}

test('sound documents pass it', async () => {
  expect(await failures(() => ({}))).toEqual([]);
});

test.each<[fault: string, Change, noticed: RegExp]>([
  ['a write replaces whatever is there', force, /no other|at once/],
  ['a write compares first, and writes later', late, /write at once/],
  ['names are folded', folded, /different keys/],
  ['names are cut', cut, /different keys/],
  ['names are steps of a path', stepped, /^the keys \. and/],
  ['a write onto what is gone counts as written', unwritten, /version is of one key/],
  [
    'a removal takes no notice of versions',
    ({ get, remove }) => ({ remove: async (key) => remove(key, (await get(key)).version ?? '') }),
    /removed/,
  ],
  ['the list has what does not begin so', ({ list }) => ({ list: () => list('') }), /list/],
  [
    'a watch tells nothing',
    () => ({ watch: async () => ({ [Symbol.asyncDispose]: async () => {} }) }),
    /watch/,
  ],
  [
    'the clock counts seconds',
    ({ get }) => ({
      get: async (key) => ({ ...(await get(key)), nowMs: Math.floor(Date.now() / 1000) }),
    }),
    /clock/,
  ],
  [
    'text loses what is not ASCII',
    ({ put }) => ({ put: (key, text, onto) => put(key, text.replace(/[^ -~\n]/g, '?'), onto) }),
    /text comes back/,
  ],
])('it notices that %s', async (_, change, noticed) => {
  const names = await failures(change);
  expect(
    names.some((name) => noticed.test(name)),
    names.join(', '),
  ).toBe(true);
});

test.each(['other', 'failed'] as const)('it notices lost replies told as %s', async (outcome) => {
  const names = await failures(
    () => ({}),
    (documents) => lost(documents, outcome),
  );
  expect(names).toEqual(['a write whose reply is lost is not told as one that was not made']);
});

function force({ get, put }: Sound): Partial<Sound> {
  return { put: async (key, text) => put(key, text, (await get(key)).version) };
}

function late({ get, put }: Sound): Partial<Sound> {
  return {
    async put(key, text, onto) {
      if ((await get(key)).version !== onto) return 'other';
      await new Promise((resolve) => setTimeout(resolve, 1));
      return put(key, text, (await get(key)).version);
    },
  };
}

function folded({ get, put }: Sound): Partial<Sound> {
  return {
    get: (key) => get(key.normalize().toLowerCase()),
    put: (key, text, onto) => put(key.normalize().toLowerCase(), text, onto),
  };
}

function cut({ get, put }: Sound): Partial<Sound> {
  return {
    get: (key) => get(key.slice(0, 255)),
    put: (key, text, onto) => put(key.slice(0, 255), text, onto),
  };
}

function stepped({ get, put }: Sound): Partial<Sound> {
  const pathOf = (key: string): string => new URL(encodeURIComponent(key), 'http://a/').pathname;
  return { get: (key) => get(pathOf(key)), put: (key, text, onto) => put(pathOf(key), text, onto) };
}

function unwritten({ get, put }: Sound): Partial<Sound> {
  return {
    async put(key, text, onto) {
      const done = await put(key, text, onto);
      const gone = done === 'other' && (await get(key)).version === undefined;
      return gone ? { version: 'v' } : done;
    },
  };
}
