import { Buffer } from 'node:buffer';
import { UsageError } from '../../base/errors.ts';

/** The base of `documentStore`: texts under keys, changed only if they are still as read. */
export interface Documents {
  /**
   * `dynamodb`, `s3`, …: in messages, and as the `lineage` of tokens. So keep it: under another
   * name, fences refuse the tokens.
   */
  readonly name: string;
  /**
   * The text under the key with its version, neither if there is none. Linearizable. `nowMs` is the
   * service's clock when it replies, in epoch ms, if it tells one; not when the text was written.
   */
  get(key: string): Promise<{
    text?: string | undefined;
    version?: string | undefined;
    nowMs?: number | undefined;
  }>;
  /**
   * Writes if the version under the key is still `onto`; undefined: if nothing is there. No two
   * texts are the same, so a version may be a hash. Without one in the reply, the next write reads.
   * `other`: nothing was written, because something else is there or another write is under way.
   * The client must retry nothing by itself: the first copy would have the second refused. What it
   * throws counts as unanswered, unless it is a `UsageError`, or a `StoreError` with the outcome
   * `failed`.
   */
  put(
    key: string,
    text: string,
    onto: string | undefined,
  ): Promise<{ version?: string | undefined; nowMs?: number | undefined } | 'other'>;
  /**
   * How far two `nowMs` of the service may differ, in ms, for one moment: its steps and the
   * differences between its servers. Undefined: it tells no time, and claims are watched instead.
   */
  readonly slackMs?: number;
  /** Removes the text if it has this version, in one step. What it throws is ignored. */
  remove?(key: string, version: string): Promise<void>;
  /** The keys that begin like this. */
  list?(prefix: string): AsyncIterable<string>;
  /** Calls `changed` after a change; without it, waiting claims look by themselves. */
  watch?(key: string, changed: () => void): Promise<AsyncDisposable>;
  /** Called when the store is closed. */
  close?(): Promise<void>;
}

/** @throws UsageError for a text of more bytes than the service has room for. */
export function checkLength(text: string, most: number, what: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > most) throw new UsageError(`${what} can have ${most} bytes, not ${bytes}.`);
}
