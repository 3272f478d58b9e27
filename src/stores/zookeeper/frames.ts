import { GarbageError } from './jute.ts';

/** Longer replies are refused, in bytes: a list of 100,000 long names is shorter. */
export const MAX_ANSWER: number = 16 * 1024 * 1024;

/** A frame beyond the limit: the connection cannot be read any further. */
export class LongFrameError extends GarbageError {
  readonly bytes: number;
  /** Of the request that it would answer. */
  readonly xid: number;

  constructor(bytes: number, xid: number) {
    super(`a frame of ${bytes} bytes`);
    this.bytes = bytes;
    this.xid = xid;
  }
}

/** Cuts a connection's bytes into frames. One per connection: a half frame ends with it. */
export class Frames {
  #chunks: Buffer[] = [];
  #length = 0;

  /** The frames that are now complete, without lengths. @throws GarbageError */
  *add(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= 4) {
      const wanted = this.#peekLength();
      if (wanted < 0) throw new GarbageError(`a frame of ${wanted} bytes`);
      if (wanted > MAX_ANSWER && this.#length >= 8) {
        throw new LongFrameError(wanted, this.#joined().readInt32BE(4));
      }
      if (this.#length < 4 + wanted) return;
      const all = this.#joined();
      this.#keep(all.subarray(4 + wanted));
      yield all.subarray(4, 4 + wanted);
    }
  }

  #peekLength(): number {
    const [first] = this.#chunks;
    return (first && first.length >= 4 ? first : this.#joined()).readInt32BE(0);
  }

  /** Joins only for a complete frame: a long one comes in many chunks. */
  #joined(): Buffer {
    const [first] = this.#chunks;
    const all = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#length = rest.length;
  }
}
