import { Buffer } from 'node:buffer';
import { UsageError } from '../../base/errors.ts';

/** The base of `documentStore`: texts under keys, changed only if they are still as read. */
export interface Documents {
  /** For people, in messages: `dynamodb`, `s3`, … */
  readonly name: string;
  /**
   * The text under the key with its version, neither if there is none. Linearizable. `nowMs` is the
   * service's clock, in epoch ms, if it tells one.
   */
  get(key: string): Promise<{ text?: string; version?: string; nowMs?: number }>;
  /**
   * Writes if the version under the key is still `onto`; undefined: if nothing is there. `other`:
   * something else is there, and nothing was written. The client must retry nothing by itself. What
   * it throws counts as unanswered, unless it is a `UsageError`, or a `StoreError` with the outcome
   * `failed`.
   */
  put(
    key: string,
    text: string,
    onto: string | undefined,
  ): Promise<{ version?: string; nowMs?: number } | 'other'>;
  /**
   * How far two `nowMs` of the service may differ, in ms, for one moment: its steps and the
   * differences between its servers. Undefined: it tells no time, and claims are watched instead.
   */
  readonly slackMs?: number;
  /** Removes the text if it has this version. */
  remove?(key: string, version: string): Promise<void>;
  /** The keys that begin like this. */
  list?(prefix: string): AsyncIterable<string>;
  /** Calls `changed` after a change; without it, waiting claims look by themselves. */
  watch?(key: string, changed: () => void): Promise<AsyncDisposable>;
  close?(): Promise<void>;
}

/** @throws UsageError for a text of more bytes than the service has room for. */
export function checkLength(text: string, most: number, what: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > most) throw new UsageError(`${what} can have ${most} bytes, not ${bytes}.`);
}
