/** What stands in an object: its value, and who has entered last. */
import { UsageError } from '../base/errors.ts';
import { show } from '../base/show.ts';
import type { Seen } from './entering.ts';

/** How a value and the fence are one text. */
export interface ObjectFormat<T> {
  /** `fence` must come back from `parse` as it was, and in no two texts is it the same. */
  format(document: { readonly value: T; readonly fence: object }): string;
  /** Without `fence`: nobody has entered yet. */
  parse(text: string): { readonly value: T; readonly fence?: unknown };
}

/** The fence in an object, and which write of which entry brought it there. */
export interface Mark extends Seen {
  readonly entry: string;
  readonly seq: number;
}

/** JSON with both side by side. What has more in it is somebody else's, and would be lost. */
export const SIDE_BY_SIDE: ObjectFormat<unknown> = {
  format: ({ value, fence }) => JSON.stringify({ fence, value }),
  parse: (text) => {
    const { fence, value, ...others } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (value === undefined || Object.keys(others).length > 0) throw new Error('Not of this form.');
    return { fence, value };
  },
};

/** What is written, and what is then read in it. */
export interface Written<T> {
  readonly text: string;
  /** Shares nothing with what it was made of, which may change. */
  readonly value: T;
}

/** @throws UsageError for a value that is none of this format. */
export function written<T>(format: ObjectFormat<T>, value: T, mark: Mark): Written<T> {
  const fence = plainMark(mark);
  let cause: unknown;
  try {
    const text = format.format({ value, fence });
    const read = typeof text === 'string' ? format.parse(text).value : undefined;
    if (read !== undefined) return { text, value: read };
  } catch (error) {
    cause = error;
  }
  throw new UsageError(`The value cannot be kept in an object: ${show(value)}.`, { cause });
}

/** As JSON has it. */
function plainMark({ lineage, token, floor, entry, seq }: Mark): object {
  return { lineage, token: String(token), floor: String(floor), entry, seq };
}

/** @throws UsageError */
export function markIn(fence: unknown, key: string): Mark {
  try {
    const { lineage, token, floor, entry, seq } = fence as Record<keyof Mark, unknown>;
    if ([lineage, token, floor, entry].every((part) => typeof part === 'string')) {
      return {
        ...{ lineage: lineage as string, entry: entry as string, seq: Number(seq) },
        ...{ token: BigInt(token as string), floor: BigInt(floor as string) },
      };
    }
  } catch {
    // What it is stands in the error.
  }
  throw notFenced(key);
}

export function notFenced(key: string, cause?: unknown): UsageError {
  const message = `The object ${show(key)} has no fence: something else has written it.`;
  return new UsageError(message, { cause });
}
