/**
 * Reports that wait to be sent, in numbered batches.
 *
 * Invariant: reports are numbered one by one, and a batch has the number of its first. A batch that
 * may have arrived is sent again as it was, so that the receiver knows what it has; reports that
 * are dropped leave a gap in the numbers, which tells the receiver how many there were. No more
 * than a full queue and one batch are kept.
 * What would break it: a batch that is cut anew after it was sent.
 */
import type { Report, ReportBatch } from '../wire.ts';

/** Most reports that wait; the oldest are dropped. */
const MAX_QUEUED = 2_000;

/** Most reports in a batch. */
export const MAX_REPORTS = 500;

/** A batch has fewer bytes than this, so that parsers of frameworks take it, and our own. */
export const MAX_BATCH_BYTES: number = 64 * 1024;

/** Longest text of a detail. */
export const MAX_DETAIL = 2_048;

type From = Pick<ReportBatch, 'reporter' | 'host' | 'pid' | 'label'>;

export class Outbox {
  readonly #from: From;
  #queue: (Report & { readonly at: number })[] = [];
  /** As JSON; it waits for its answer. */
  #batch: { readonly first: number; readonly texts: readonly string[] } | undefined;
  #added = 0;
  #dropped = 0;

  constructor(from: From) {
    this.#from = from;
  }

  get isEmpty(): boolean {
    return this.#batch === undefined && this.#queue.length === 0;
  }

  get dropped(): number {
    return this.#dropped;
  }

  add(report: Report, at: number): void {
    this.#added += 1;
    const detail = report.detail?.slice(0, MAX_DETAIL) ?? null;
    this.#queue.push({ ...report, detail, at });
    if (this.#queue.length <= MAX_QUEUED) return;
    this.#queue.shift();
    this.#dropped += 1;
  }

  /** The body of the next request: the batch before, until it is settled. */
  take(now: number): string | undefined {
    this.#batch ??= this.#cut();
    if (!this.#batch) return undefined;
    const { first, texts } = this.#batch;
    const head = JSON.stringify({ ...this.#from, first, now });
    return `${head.slice(0, -1)},"reports":[${texts.join()}]}`;
  }

  /** The batch has arrived. */
  arrived(): void {
    this.#batch = undefined;
  }

  /** The batch will not be taken. */
  refused(): void {
    this.#dropped += this.#batch?.texts.length ?? 0;
    this.#batch = undefined;
  }

  /** For good. */
  clear(): void {
    this.refused();
    this.#dropped += this.#queue.length;
    this.#queue = [];
  }

  #cut(): { readonly first: number; readonly texts: readonly string[] } | undefined {
    const texts: string[] = [];
    // The rest is for the head.
    let bytes = MAX_BATCH_BYTES - 8_192;
    for (const report of this.#queue.slice(0, MAX_REPORTS)) {
      const text = JSON.stringify(report);
      bytes -= Buffer.byteLength(text) + 1;
      if (bytes < 0) break;
      texts.push(text);
    }
    if (texts.length === 0) return undefined;
    const first = this.#added - this.#queue.length;
    this.#queue = this.#queue.slice(texts.length);
    return { first, texts };
  }
}
