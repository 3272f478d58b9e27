/** A queue as text under its key, and back. */
import { permanentFailure } from '../../contract/errors.ts';
import { ClaimQueue } from '../../queue/queue.ts';
import type { DocumentLife } from './life.ts';

const FORMAT = 1;

export interface WrittenQueue {
  readonly queue: ClaimQueue;
  /** The name of the write that this is. */
  readonly write: string;
}

/** What stays the same in all texts of a resource. */
export interface Heading {
  readonly service: string;
  readonly resource: string;
  readonly clock: DocumentLife['clock'];
}

/** No two writes have the same text, because none has the name of another. */
export function toText({ resource, clock }: Heading, write: string, queue: ClaimQueue): string {
  return JSON.stringify({ holdfast: FORMAT, resource, clock, write, queue });
}

/** @throws StoreError unless it is a queue of this resource, in this form. */
export function fromText(heading: Heading, text: string): WrittenQueue {
  const { holdfast, resource, clock, write, queue } = partsOf(text);
  const at = `The text under '${heading.resource}' in ${heading.service}`;
  if (typeof holdfast !== 'number' || typeof write !== 'string' || resource !== heading.resource) {
    throw permanentFailure(`${at} is not of this lock. Nothing was changed.`);
  }
  if (holdfast > FORMAT)
    throw permanentFailure(`${at} was written by a newer version of holdfast.`);
  if (clock !== heading.clock) {
    const message = `${at} goes by the clock '${clock}', this program by '${heading.clock}'.`;
    throw permanentFailure(message);
  }
  try {
    return { queue: ClaimQueue.from(queue), write };
  } catch (cause) {
    throw permanentFailure(`${at} is malformed. Nothing was changed.`, cause);
  }
}

function partsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
