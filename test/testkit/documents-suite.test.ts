/** The suite for documents has teeth: it notices each of these faults, and none where is none. */
import { systemClock } from 'holdfast';
import { documentsSuite } from 'holdfast/testkit';
import { expect, test } from 'vitest';
import { StoreError } from '../../src/contract/errors.ts';
import type { Documents } from '../../src/stores/document/documents.ts';
import { Shelf } from '../stores/document/shelf.ts';
import { failures, type Registered } from './registered-cases.ts';

type Sound = Required<Documents>;
type Change = (sound: Sound) => Partial<Sound>;

const ALL = ['remove', 'list', 'watch', 'nowMs'] as const;

/** The names of the cases that fail. */
async function failuresWith(change: Change, lose = lost): Promise<string[]> {
  const cases: Registered[] = [];
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
  return failures(cases);
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
  expect(await failuresWith(() => ({}))).toEqual([]);
});

test.each<[fault: string, Change, noticed: RegExp]>([
  ['a write replaces whatever is there', force, /no other|at once/],
  ['a write compares first, and writes later', late, /write at once/],
  ['names are folded', named((key) => key.normalize().toLowerCase()), /different keys/],
  ['names are cut', named((key) => key.slice(0, 255)), /different keys/],
  [
    'names are steps of a path',
    named((key) => new URL(encodeURIComponent(key), 'http://a/').pathname),
    /^the keys \. and/m,
  ],
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
  expect((await failuresWith(change)).join('\n')).toMatch(noticed);
});

test.each(['other', 'failed'] as const)('it notices lost replies told as %s', async (outcome) => {
  const names = await failuresWith(
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

/** What is kept under a key is kept under what this makes of it. */
function named(nameOf: (key: string) => string): Change {
  return ({ get, put }) => ({
    get: (key) => get(nameOf(key)),
    put: (key, text, onto) => put(nameOf(key), text, onto),
  });
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
