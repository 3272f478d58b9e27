/** The text of an object: its value, and the mark of the last write. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import type { SeenToken } from '../rule.ts';

/** The fence in an object, with the entry and write that put it there. */
export interface FenceMark extends SeenToken {
  readonly entry: string;
  readonly seq: number;
}

export interface FenceDocument<T> {
  readonly value: T;
  /** None before the first entry. */
  readonly mark: FenceMark | undefined;
}

/**
 * The text to write, and the value parsed from it, which shares nothing with the given one.
 * @throws UsageError for a value that JSON does not have.
 */
export function written<T>(value: T, mark: FenceMark): { text: string; value: T } {
  const fence = { ...mark, token: String(mark.token), floor: String(mark.floor) };
  let cause: unknown;
  try {
    const text = JSON.stringify({ fence, value });
    const read = JSON.parse(text) as { readonly value?: T };
    if (read.value !== undefined) return { text, value: read.value };
  } catch (error) {
    cause = error;
  }
  throw new UsageError(`The value cannot be kept in an object: ${show(value)}.`, { cause });
}

/** Refuses other fields: another program wrote them, and the next write would lose them. */
export function documentIn<T>(text: string, key: string): FenceDocument<T> {
  let cause: unknown;
  try {
    const { fence, value, ...others } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (value !== undefined && Object.keys(others).length === 0) {
      return { value: value as T, mark: fence === undefined ? undefined : markIn(fence) };
    }
  } catch (error) {
    cause = error;
  }
  const message = `The object ${show(key)} has no fence: something else has written it.`;
  throw new UsageError(message, { cause });
}

function markIn(fence: unknown): FenceMark {
  const { lineage, token, floor, entry, seq } = fence as Record<keyof FenceMark, string>;
  if (typeof lineage !== 'string' || typeof entry !== 'string') throw new Error('Not a fence.');
  return { lineage, entry, seq: Number(seq), token: BigInt(token), floor: BigInt(floor) };
}
