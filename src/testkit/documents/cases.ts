import assert from 'node:assert/strict';
import { isLockError } from '../../base/errors.ts';
import type { Documents } from '../../stores/document/documents.ts';

/** The parts that a service may have or not. */
export type Optional = 'remove' | 'list' | 'watch' | 'nowMs';

export interface DocumentsBed {
  readonly noticeMs: number;
  /** A key that no other case uses. */
  key(name?: string): string;
  open(): Promise<Documents>;
}

type DocumentsCases = Readonly<Record<string, (bed: DocumentsBed) => Promise<void>>>;

const WRITERS = 20;
const ROUNDS = 5;

/** Each pair differs in what services and languages like to ignore. */
const HOSTILE = [
  ...['a/b', 'a//b', 'a%2Fb', 'a%252Fb', '../a', './a', 'a/'],
  ...['a', 'A', 'a ', ' a', 'a\0', 'a\0b', 'a\nb', 'a\u0001'],
  ...['a\\b', 'a?b=c#d', "a'b", 'a"b', 'a&amp;b', 'a*', 'a+b', 'a:b|c;d,e', '$a.b', '{a}'],
  ...['é', 'e\u0301', 'ß', 'ss', '\u{1f512}', 'İ', '\u200b', '\u{1fae9}'],
  ...['x'.repeat(400), 'x'.repeat(401), 'é'.repeat(200)],
];

/** By the part that they need. */
export const CASES: Readonly<Record<Optional | 'get and put', DocumentsCases>> = {
  'get and put': {
    async 'where nothing is, there is neither text nor version'({ key, open }) {
      const { text, version } = await (await open()).get(key());
      assert.equal(text, undefined, `get() where nothing is must return no text, not ${text}`);
      assert.equal(version, undefined, 'get() where nothing is must return no version');
    },
    async 'a write onto nothing is read by all, with its version'({ key, open }) {
      const [one, other] = [await open(), await open()];
      const name = key();
      const put = await one.put(name, 'first', undefined);
      assert.ok(put !== 'other', 'put() onto undefined, where nothing is, must write');
      await is(other, name, 'first');
      const { version } = await other.get(name);
      const { version: told = version } = put;
      assert.equal(told, version, `put() returned the version ${told}, and get() then ${version}`);
    },
    async 'a write replaces the version it names, and no other'({ key, open }) {
      const [one, other] = [await open(), await open()];
      const name = key();
      await written(one, name, 'first');
      await refused(other.put(name, 'second', undefined), 'undefined, where a text is,');
      await is(one, name, 'first');
      const { version: first } = await other.get(name);
      await written(other, name, 'third');
      await refused(one.put(name, 'fourth', first), 'a version that has been replaced');
      await refused(one.put(name, 'fifth', undefined), 'undefined, where a text is,');
      await is(one, name, 'third');
      const { version: third } = await one.get(name);
      assert.notEqual(first, third, 'each write must give the key a version of its own');
    },
    async 'a version is of one key'({ key, open }) {
      const documents = await open();
      await written(documents, key(), 'here');
      const { version } = await documents.get(key());
      const put = documents.put(key(' too'), 'there', version);
      await refused(put, 'a version of another key, where nothing is,');
      await is(documents, key(' too'), undefined);
    },
    async 'text comes back as it was, also much of it'({ key, open }) {
      const documents = await open();
      const much = `{"a":"${'\u{1f512}ß\\n\u2028é'.repeat(6_000)}"}`;
      for (const text of ['{"a":"<&>\'\\u0000 \\" é\u{1f512}"}', much, ' ', '{"a":1}\n']) {
        await written(documents, key(), text);
        await is(documents, key(), text);
      }
    },
    async 'different keys are different documents'({ key, open }) {
      const documents = await open();
      for (const name of HOSTILE) {
        const put = await documents.put(key(name), JSON.stringify(name), undefined);
        assert.notEqual(put, 'other', `${JSON.stringify(name)} is taken for another`);
      }
      for (const name of HOSTILE) await is(documents, key(name), JSON.stringify(name));
    },
    // Bare, because only then are they steps of a path. All runs of the suite on one service share
    // them: so each writes the same texts, only where nothing is, and removes none.
    async 'the keys . and .. are documents too'({ open }) {
      const documents = await open();
      const texts: (string | undefined)[] = [];
      for (const name of ['.', '..']) {
        const put = await documents.put(name, JSON.stringify(name), undefined);
        if (put !== 'other') await is(documents, name, JSON.stringify(name));
      }
      for (const name of ['.', '..']) texts.push((await documents.get(name)).text);
      const [one, two] = texts;
      assert.ok(one !== undefined && two !== undefined, 'put() under . or .. has written nothing');
      assert.notEqual(one, two, '. and .. are taken for one key');
    },
    async [`of ${WRITERS} that write at once, one replaces each version`]({ key, open }) {
      const all = [await open(), await open(), await open(), await open()];
      for (let round = 0; round < ROUNDS; round++) {
        const { version } = await (all[0] as Documents).get(key());
        const texts = Array.from({ length: WRITERS }, (_, n) => `{"round":${round},"n":${n}}`);
        const puts = texts.map((text, n) =>
          (all[n % all.length] as Documents).put(key(), text, version),
        );
        const outcomes = await Promise.allSettled(puts);
        const won = texts.filter((_, n) => isWon(outcomes[n]));
        const doubtful = texts.filter((_, n) => isDoubtful(outcomes[n]));
        const { text = '' } = await (all[1] as Documents).get(key());
        assert.ok(won.length <= 1, `${won.length} have replaced one version`);
        if (won.length === 1)
          assert.equal(text, won[0], `${won[0]} was told as written, not ${text}`);
        else assert.ok(doubtful.includes(text), 'what is there was written by none that may have');
      }
    },
  },
  remove: {
    async 'what is removed is gone, if it is the version that was meant'({ key, open }) {
      const documents = await open();
      await written(documents, key(), 'first');
      const { version: first = '' } = await documents.get(key());
      await written(documents, key(), 'second');
      await documents.remove?.(key(), first);
      await is(documents, key(), 'second');
      const { version: second = '' } = await documents.get(key());
      await documents.remove?.(key(), second);
      await is(documents, key(), undefined);
      await documents.remove?.(key(), second);
      await refused(documents.put(key(), 'late', second), 'a version that has been removed');
      await written(documents, key(), 'third');
      // Versions are not used again, or copies that come late would find theirs.
      for (const late of [first, second]) {
        await refused(documents.put(key(), 'late', late), 'a version from before the removal');
      }
      await is(documents, key(), 'third');
    },
  },
  list: {
    async 'the list has the keys that begin so, and no others'({ key, open }) {
      const documents = await open();
      const names = ['a', 'a/b', 'a%', 'ab\0', 'é', 'A', '.', '..', '\u{1f512}'];
      for (const name of names) await written(documents, key(name), name);
      for (const prefix of ['', 'a', 'a/', '.', 'a%', 'é', 'b']) {
        const found: string[] = [];
        for await (const one of documents.list?.(key(prefix)) ?? []) found.push(one);
        const wanted = names.filter((name) => name.startsWith(prefix)).map((name) => key(name));
        const told = `list() of ${JSON.stringify(key(prefix))} has ${JSON.stringify(found.sort())}`;
        assert.deepEqual(found, wanted.sort(), `${told}, not ${JSON.stringify(wanted)}`);
      }
    },
  },
  watch: {
    async 'a watch tells of each change that comes after it'({ key, open, noticeMs }) {
      const [one, other] = [await open(), await open()];
      let changes = 0;
      const watch = await one.watch?.(key(), () => changes++);
      for (let n = 0; n < 3; n++) {
        const before = changes;
        await written(other, key(), `{"n":${n}}`);
        await come(() => changes > before, noticeMs);
      }
      await watch?.[Symbol.asyncDispose]();
      const last = changes;
      const again = await one.watch?.(key(), () => changes++);
      await written(other, key(), '{"n":"last"}');
      await come(() => changes > last, noticeMs);
      await again?.[Symbol.asyncDispose]();
    },
  },
  nowMs: {
    async "the service's clock goes on"({ key, open }) {
      const documents = await open();
      const slackMs = documents.slackMs ?? 0;
      let { nowMs: before = Number.NaN } = await documents.get(key());
      assert.ok(before > Date.UTC(2020, 0), `${before} is no time of day in ms`);
      for (let n = 0; n < 5; n++) {
        const { version, nowMs: read = Number.NaN } = await documents.get(key());
        const put = await documents.put(key(), `{"n":${n}}`, version);
        const { nowMs: now = Number.NaN } = put === 'other' ? {} : put;
        assert.ok(read >= before - slackMs, `the clock went from ${before} to ${read}`);
        assert.ok(now >= read - slackMs, `the clock went from ${read} to ${now}`);
        before = now;
      }
    },
  },
};

export async function is(documents: Documents, key: string, wanted?: string): Promise<void> {
  const { text } = await documents.get(key);
  const [found, meant] = [text, wanted].map((each) => JSON.stringify(each)?.slice(0, 100));
  assert.equal(text, wanted, `get() of ${JSON.stringify(key)} must return ${meant}, not ${found}`);
}

async function refused(put: ReturnType<Documents['put']>, onto: string): Promise<void> {
  assert.equal(await put, 'other', `put() onto ${onto} must return other`);
}

/** Writes what no other client writes. */
async function written(documents: Documents, key: string, text: string): Promise<void> {
  const { version } = await documents.get(key);
  const put = await documents.put(key, text, version);
  assert.notEqual(put, 'other', 'put() onto the version that get() has returned must write');
}

function isWon(outcome: PromiseSettledResult<unknown> | undefined): boolean {
  return outcome?.status === 'fulfilled' && outcome.value !== 'other';
}

/** Any error fails the case, except doubt and a service that is too busy. */
function isDoubtful(outcome: PromiseSettledResult<unknown> | undefined): boolean {
  if (outcome?.status !== 'rejected') return false;
  const { reason } = outcome;
  if (!isLockError(reason, 'STORE') || !(reason as { retryable?: boolean }).retryable) throw reason;
  return isDoubt(reason);
}

export function isDoubt(error: unknown): boolean {
  return isLockError(error, 'STORE') && (error as { outcome?: string }).outcome === 'unknown';
}

async function come(is: () => boolean, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!is()) {
    assert.ok(performance.now() < deadline, `no change was told within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
