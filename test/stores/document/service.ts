/** Documents on a real service: what the tests of all of them share. */
import { type DocumentsSuiteOptions, documentsSuite } from 'holdfast/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Documents } from '../../../src/stores/document/documents.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';

/** The server of a file, whose tests are skipped for this reason, if there is one. */
export function sharedServer<S extends { close(): unknown }>(
  why: string | undefined,
  start: () => Promise<S>,
): () => S {
  beforeEach(({ skip }) => skip(why !== undefined, why));
  let server: S | undefined;
  beforeAll(async () => {
    if (why === undefined) server = await start();
  });
  afterAll(async () => void (await server?.close()));
  return () => server as S;
}

export function documentsTests(options: Omit<DocumentsSuiteOptions, 'test' | 'skip'>): void {
  const skip = (name: string, reason: string): void => {
    test(name, (context) => context.skip(reason));
  };
  documentsSuite({ test, skip, ...options });
}

/** A proxy cuts the connection when a reply comes, once connections are `ready` for that. */
export function cutting(
  portOf: () => number,
  open: (port: number) => Documents,
  ready: (documents: Documents) => Promise<unknown> = async () => {},
): NonNullable<DocumentsSuiteOptions['losing']> {
  return async () => {
    const proxy = await TcpProxy.start(portOf());
    const documents = open(proxy.port);
    return {
      documents,
      async losing(work) {
        await ready(documents);
        proxy.toClient.set({ cutAfter: 1 });
        return work();
      },
      close: async () => proxy.close(),
    };
  };
}

export function absenceIsTold(portOf: () => number, open: (port: number) => Documents): void {
  test('a server that is not there is told as what it is', async () => {
    const proxy = await TcpProxy.start(portOf());
    proxy.close();
    const nowhere = open(proxy.port);
    const put = nowhere.put('a', '1', undefined);
    await expect(put).rejects.toMatchObject({ code: 'STORE', retryable: true, outcome: 'failed' });
    await nowhere.close?.();
  });
}

export function watchesGoOn(open: () => Documents, restart: () => Promise<void>): void {
  test('a watch goes on after the server was away', async () => {
    const one = open();
    let told = 0;
    await one.put('away', '1', undefined);
    const watch = await one.watch?.('away', () => told++);
    await restart();
    const before = told;
    let n = 0;
    await until('told', async () => {
      const { version } = await one.get('away');
      // The same text again would be no change.
      await one.put('away', `again ${n++}`, version);
      return told > before;
    });
    await watch?.[Symbol.asyncDispose]();
    await one.close?.();
  });
}
