/**
 * Documents in the key-value store of Consul, over its HTTP interface.
 *
 * A version is the `ModifyIndex` of a key, which the cluster's log gives to no other write. Writes
 * are transactions of one check-and-set, which reply with the new index; reads ask the leader
 * (`consistent`). Nothing is sent twice. The store reports no server clock, because each program
 * may ask an agent of its own machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../../base/errors.ts';
import { checkOptions, text as textOption } from '../../base/options.ts';
import { HttpClient, type HttpReply, type HttpRequest } from '../../clients/http/client.ts';
import { bodyOf, failureOf } from '../../clients/http/fate.ts';
import { ASCII_KEYS } from '../../clients/http/keys.ts';
import { checkLength, type Documents } from '../document/documents.ts';
import { Subscription } from '../subscription.ts';

export interface ConsulOptions {
  /** The secret of an ACL token that may read and write keys below `prefix`. */
  readonly token?: string;
  /** What all keys begin with; default `holdfast/`. */
  readonly prefix?: string;
  /** Default: the agent's. */
  readonly datacenter?: string;
  /** The authority that signed the agent's certificate, in PEM; default: those Node knows. */
  readonly ca?: string;
}

const CHECKS = { token: textOption, prefix: textOption, datacenter: textOption, ca: textOption };

/** Consul stores values of at most this many bytes (`kv_max_value_size`). */
const MAX_TEXT_BYTES = 512 * 1024;

interface ConsulEntry {
  readonly Value: string | null;
  readonly ModifyIndex: number;
}

/** @param url of an agent, such as `http://127.0.0.1:8500`. */
export function consulDocuments(url: string, options: ConsulOptions = {}): Documents {
  const given = checkOptions(options, CHECKS, 'consulStore');
  const { token, prefix = 'holdfast/', datacenter, ca } = given;
  const client = new HttpClient({ url: addressOf(url), ca });
  const headers: Record<string, string> = token === undefined ? {} : { 'x-consul-token': token };
  const inDatacenter = datacenter === undefined ? '' : `&dc=${encodeURIComponent(datacenter)}`;

  async function ask(request: HttpRequest): Promise<HttpReply> {
    const path = request.path + inDatacenter;
    return client.ask({ ...request, path, headers }).catch((error: unknown) => {
      throw failureOf('Consul', error);
    });
  }

  const keyOf = (key: string): string => prefix + ASCII_KEYS.keyOf(key);
  const pathOf = (key: string, query: string): string =>
    `/v1/kv/${encodeURIComponent(keyOf(key))}?${query}`;

  /** Undefined: the condition did not hold. */
  async function change(step: object): Promise<{ readonly ModifyIndex?: number } | undefined> {
    const body = JSON.stringify([{ KV: step }]);
    const reply = await ask({ path: '/v1/txn?', method: 'PUT', body });
    if (reply.status === 409 && /index is stale/.test(reply.text)) return undefined;
    const { Results } = bodyOf<{ Results?: readonly { KV?: object }[] | null }>('Consul', reply);
    return Results?.[0]?.KV ?? {};
  }

  return {
    name: 'consul',
    async get(key) {
      const reply = await ask({ path: pathOf(key, 'consistent') });
      if (reply.status === 404) return {};
      const [entry] = bodyOf<readonly ConsulEntry[]>('Consul', reply);
      if (!entry) throw failureOf('Consul', new Error('a reply without an entry'));
      const text = Buffer.from(entry.Value ?? '', 'base64').toString();
      return { text, version: String(entry.ModifyIndex) };
    },
    async put(key, text, onto) {
      checkLength(text, MAX_TEXT_BYTES, 'A key of Consul');
      const Value = Buffer.from(text).toString('base64');
      const Index = Number(onto ?? 0);
      const done = await change({ Verb: 'cas', Key: keyOf(key), Value, Index });
      if (!done) return 'other';
      return done.ModifyIndex === undefined ? {} : { version: String(done.ModifyIndex) };
    },
    async remove(key, version) {
      await change({ Verb: 'delete-cas', Key: keyOf(key), Index: Number(version) });
    },
    async *list(beginning) {
      const start = encodeURIComponent(prefix + ASCII_KEYS.beginningOf(beginning));
      const reply = await ask({ path: `/v1/kv/${start}?keys&consistent` });
      if (reply.status === 404) return;
      for (const key of bodyOf<readonly string[]>('Consul', reply)) {
        const name = ASCII_KEYS.nameOf(key.slice(prefix.length));
        if (name?.startsWith(beginning)) yield name;
      }
    },
    watch: (key, changed) =>
      blocking((query, rest) => ask({ ...rest, path: pathOf(key, query) }), changed),
    close: async () => client.close(),
  };
}

function addressOf(url: string): URL {
  if (typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url)) return new URL(url);
  throw new UsageError("Consul's address must be a URL such as 'http://127.0.0.1:8500'.");
}

type ConsulCall = (query: string, rest: Partial<HttpRequest>) => Promise<HttpReply>;

/** How long a query waits, in s. Consul adds up to a sixteenth. */
const WAIT_S = 60;
const SILENCE_MS = WAIT_S * 1_200;

/** Before the next try after a failure, in ms. */
const PAUSE_MS = 1000;

/**
 * A watch of one key by Consul's blocking queries: each returns when the index has gone past the
 * one it names, so that no change falls between two of them.
 * @throws StoreError if the first query fails.
 */
async function blocking(ask: ConsulCall, changed: () => void): Promise<AsyncDisposable> {
  const end = new AbortController();
  const { signal } = end;

  /** The index of the key; 0: none is known, and the next query returns at once. */
  async function look(after: number): Promise<number> {
    const query = after === 0 ? 'consistent' : `consistent&index=${after}&wait=${WAIT_S}s`;
    const { status, headers } = await ask(query, { signal, silenceMs: SILENCE_MS, idle: true });
    if (status !== 200 && status !== 404) throw new Error(`HTTP ${status}`);
    const index = Number(headers['x-consul-index']);
    // An index that goes backwards is one of another history, as after a restored snapshot.
    return index >= after ? index : 0;
  }

  async function follow(first: number): Promise<void> {
    for (let last = first; !signal.aborted; ) {
      const next = await look(last).catch(() => undefined);
      if (signal.aborted) return;
      if (next === undefined) await sleep(PAUSE_MS, undefined, { ref: false });
      // After a failure the previous index is still right: what changed meanwhile is reported.
      else if (next !== last) {
        last = next;
        changed();
      }
    }
  }

  const first = await look(0);
  void follow(first);
  return new Subscription(() => end.abort());
}
