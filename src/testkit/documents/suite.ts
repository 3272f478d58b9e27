/**
 * The suite for documents: checks on a real service, with any test runner, what `documentStore`
 * relies on.
 *
 * The one promise that locks stand on is that a write replaces the version it names, and no other.
 * So writers race for the same version, and every one that is told it has won must find its text as
 * a link of one chain; a write whose reply is lost must never be reported as one that was not
 * carried out.
 */
import assert from 'node:assert/strict';
import { isError } from '../../base/errors.ts';
import type { Documents } from '../../stores/document/documents.ts';
import { CASES, is, isDoubt, type Optional } from './cases.ts';

export interface DocumentsSuiteOptions {
  /** Registers a case. Cases share nothing but the service, and may run at the same time. */
  test(name: string, body: () => Promise<void>): unknown;
  /** Shows a case that does not apply, and why. */
  skip(name: string, reason: string): unknown;
  /** The service, as each program would open it; closed after the case. */
  create(): Documents | Promise<Documents>;
  /** Which of the optional parts it has, and no others; `nowMs` if it has `slackMs`. */
  readonly has: readonly Optional[];
  /**
   * Documents, and a way to do something with them so that the reply to its first request is lost
   * after the service has carried it out: a proxy cuts the connection when the reply comes.
   */
  losing?(): Promise<{
    readonly documents: Documents;
    losing<T>(work: () => Promise<T>): Promise<T>;
    close(): Promise<void>;
  }>;
  /** How soon the service reports a change, in ms; default 10 s. */
  readonly noticeMs?: number;
}

/**
 * Registers all cases with the given runner.
 *
 * A case fails by rejecting with an `AssertionError`.
 *
 * @example
 * import { test } from 'node:test';
 * import { documentsSuite } from 'holdfast/testkit';
 *
 * documentsSuite({
 *   test,
 *   skip: (name, reason) => test(name, { skip: reason }, () => {}),
 *   create: () => documents,
 *   has: ['remove', 'list'],
 * });
 *
 * @experimental Cases are added in minor versions.
 */
export function documentsSuite(options: DocumentsSuiteOptions): void {
  const { test, skip, create, has, losing, noticeMs = 10_000 } = options;
  const run = Math.random().toString(36).slice(2);
  const offered: readonly string[] = ['get and put', ...has];
  const all = Object.entries(CASES).flatMap(([need, cases]) =>
    Object.entries(cases).map(([promise, body]) => ({ need, promise, body })),
  );
  all.forEach(({ need, promise, body }, n) => {
    const name = `documents: ${promise}`;
    if (!offered.includes(need)) {
      skip(name, `not promised: the service has no ${need}`);
      return;
    }
    test(name, async () => {
      const opened: Documents[] = [];
      const open = async (): Promise<Documents> => {
        const documents = await create();
        opened.push(documents);
        const { slackMs, remove, list, watch } = documents;
        for (const [part, own] of Object.entries({ nowMs: slackMs, remove, list, watch })) {
          const told = has.includes(part as Optional);
          const message = `has must name ${part} if the documents have it, and only then`;
          assert.equal(own !== undefined, told, message);
        }
        return documents;
      };
      try {
        await body({ noticeMs, open, key: (more = '') => `suite ${run} ${n}/${more}` });
      } finally {
        for (const documents of opened) await documents.close?.();
      }
    });
  });
  const lost = 'documents: a write whose reply is lost is not told as one that was not made';
  if (losing) test(lost, () => loseReplies(losing, `suite ${run} lost`));
  else skip(lost, 'not promised: the fixture loses no replies');
}

async function loseReplies(losing: NonNullable<DocumentsSuiteOptions['losing']>, key: string) {
  const { documents, losing: lose, close } = await losing();
  try {
    for (let n = 0; n < 3; n++) {
      const { version } = await documents.get(key);
      const text = `{"n":${n}}`;
      const outcome = await lose(() => documents.put(key, text, version)).catch((error) => error);
      assert.notEqual(outcome, 'other', 'it was written, and told as not written');
      if (isError(outcome)) {
        assert.ok(isDoubt(outcome), `expected a StoreError of unknown outcome, got ${outcome}`);
      }
      await is(documents, key, text);
    }
  } finally {
    await documents.close?.();
    await close();
  }
}
