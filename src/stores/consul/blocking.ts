/**
 * A watch of one key by Consul's blocking queries: each returns when the index has gone past the
 * one it names, so that no change falls between two of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpReply, HttpRequest } from '../../clients/http/client.ts';
import { Subscription } from '../subscription.ts';

type ConsulCall = (query: string, rest: Partial<HttpRequest>) => Promise<HttpReply>;

/** How long a query waits, in s. Consul adds up to a sixteenth. */
const WAIT_S = 60;
const SILENCE_MS = WAIT_S * 1_200;

/** Before the next try after a failure, in ms. */
const PAUSE_MS = 1000;

/** @throws StoreError if the first query fails. */
export async function blocking(ask: ConsulCall, changed: () => void): Promise<AsyncDisposable> {
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
