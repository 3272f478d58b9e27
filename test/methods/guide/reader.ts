/** The reader's own data and work, as much of it as the blocks of the pages use. */
import { type Database, transaction } from '../../../examples/shared/open-database.ts';
import { sqliteNumber } from '../../fences/sqlite-number.ts';
import type { Module } from './blocks.ts';
import { newBucket } from './bucket.ts';
import { newServices } from './services.ts';

interface AccessToken {
  readonly text: string;
  readonly endsAt: number;
}

export interface Reader {
  readonly given: Module;
  readonly cached: Map<string, AccessToken>;
  /** The messages that were acknowledged. */
  readonly acknowledged: string[];
  /** What was asked of services elsewhere. */
  readonly requests: { readonly url: string; readonly headers: Headers }[];
  /** The objects in S3. */
  readonly objects: Map<string, string>;
  /** Called with the number of each term; the first is 1. */
  led: { call: (term: number) => unknown };
}

export function newReader(): Reader {
  const cached = new Map<string, AccessToken>();
  const acknowledged: string[] = [];
  const requests: { url: string; headers: Headers }[] = [];
  const objects = new Map<string, string>();
  const led: Reader['led'] = { call: () => {} };
  const cache = {
    get: async (key: string) => cached.get(key),
    set: async (key: string, token: AccessToken) => void cached.set(key, token),
  };
  const message = { id: '42', ack: async () => void acknowledged.push('42') };
  const answer = async (url: string, init: RequestInit = {}): Promise<Response> => {
    requests.push({ url, headers: new Headers(init.headers) });
    return Response.json([]);
  };
  let terms = 0;
  const lead = async (): Promise<void> => {
    terms++;
    await led.call(terms);
  };
  const given = {
    ...{ cache, message, fetch: answer, lead, transaction, sell, countStock, fresh },
    numberBehindMyFence: sqliteNumber,
    ...{ ...newWork(cached), ...newBucket(objects), ...newServices() },
  };
  return { given, cached, acknowledged, requests, objects, led };
}

/** Work of all kinds, which takes no time. */
function newWork(cached: Map<string, AccessToken>): Module {
  const nothing = async (): Promise<void> => {};
  const newToken = (): AccessToken => ({ text: 'secret', endsAt: Date.now() + 3_600_000 });
  let [config, number, steps] = ['as it was ', 0, 0];
  return {
    ...{ charge: nothing, ship: nothing, transfer: nothing, buildReport: nothing },
    ...{ train: nothing, cleanUp: nothing, handle: nothing },
    // Every fourth one was the last.
    step: async () => ++steps % 4 !== 0,
    readConfig: async () => config,
    writeConfig: async (text: string) => {
      config = text;
    },
    nextNumber: async () => ++number,
    readToken: async () => 'secret',
    fetchToken: async () => newToken(),
    loadToken: async () => {
      cached.set('token', newToken());
      return cached.get('token');
    },
  };
}

function sell(db: Database, sku: string): void {
  db.prepare('UPDATE stock SET n = n - 1 WHERE sku = ?').run(sku);
}

export function countStock(db: Database, sku: string): number {
  return (db.prepare('SELECT n FROM stock WHERE sku = ?').get(sku) as { readonly n: number }).n;
}

function fresh(
  token: AccessToken | undefined,
  { leftMs = 0 }: { readonly leftMs?: number } = {},
): AccessToken | undefined {
  return token && token.endsAt - Date.now() > leftMs ? token : undefined;
}
