/**
 * Cuts the bytes of a connection into frames, each behind a head with its length. Each stream of
 * bytes has its own cutter: a half-read frame ends with the stream.
 */
export interface Head {
  readonly bytes: number;
  /** Reads the frame's length; `start` begins with the head. Throws if nothing valid begins so. */
  readonly lengthIn: (start: Buffer) => number;
}

/** A shorter beginning is joined with what follows before it is read. */
const START = 16;

export class Frames {
  readonly #head: Head;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(head: Head) {
    this.#head = head;
  }

  get begun(): boolean {
    return this.#size > 0;
  }

  /** The frames that this piece completes, without heads. Throws as `lengthIn` does. */
  *add(piece: Buffer): Generator<Buffer> {
    this.#pieces.push(piece);
    this.#size += piece.length;
    const { bytes, lengthIn } = this.#head;
    while (this.#size >= bytes) {
      const [first = piece] = this.#pieces;
      const end = bytes + lengthIn(first.length < START ? this.#joined() : first);
      if (this.#size < end) return;
      const all = this.#joined();
      this.#size -= end;
      this.#pieces = this.#size > 0 ? [all.subarray(end)] : [];
      yield all.subarray(bytes, end);
    }
  }

  /** Copies only for a complete frame: a long one comes in many pieces. */
  #joined(): Buffer {
    const [first] = this.#pieces;
    const all = first && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }
}
