/**
 * Jute, ZooKeeper's encoding: big-endian numbers, texts and bytes after their length, lists after
 * their count. The reader trusts no length: one that points beyond the end of the frame, or that no
 * frame could hold, throws before anything of that size is allocated.
 */
import type { Head } from '../../frames.ts';

/** The bytes do not follow the protocol; the connection is of no use any more. */
export class GarbageError extends Error {
  constructor(what: string) {
    super(`the answer is not of ZooKeeper's protocol: ${what}`);
    this.name = 'GarbageError';
  }
}

/** Longer replies are refused, in bytes: a list of 100,000 long names is shorter. */
export const MAX_ANSWER: number = 16 * 1024 * 1024;

/** A frame beyond the limit: the connection cannot be read any further. */
export class LongFrameError extends GarbageError {
  readonly bytes: number;
  /** The number of the request that it would answer. */
  readonly xid: number;

  constructor(bytes: number, xid: number) {
    super(`a frame of ${bytes} bytes`);
    this.bytes = bytes;
    this.xid = xid;
  }
}

export const HEAD: Head = {
  bytes: 4,
  lengthIn: (start) => {
    const length = start.readInt32BE(0);
    if (length < 0) throw new GarbageError(`a frame of ${length} bytes`);
    if (length > MAX_ANSWER && start.length >= 8) {
      throw new LongFrameError(length, start.readInt32BE(4));
    }
    return length;
  },
};

/** Most frames are shorter, in bytes. */
const FIRST_SIZE = 384;

export class JuteWriter {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_SIZE);
  #length = HEAD.bytes;

  int(value: number): this {
    const at = this.#grow(4);
    this.#bytes.writeInt32BE(value, at);
    return this;
  }

  long(value: bigint): this {
    const at = this.#grow(8);
    this.#bytes.writeBigInt64BE(value, at);
    return this;
  }

  flag(value: boolean): this {
    const at = this.#grow(1);
    this.#bytes[at] = value ? 1 : 0;
    return this;
  }

  bytes(value: Uint8Array): this {
    this.int(value.length);
    const at = this.#grow(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  text(value: string): this {
    const length = Buffer.byteLength(value);
    this.int(length);
    const at = this.#grow(length);
    this.#bytes.write(value, at);
    return this;
  }

  list<T>(values: readonly T[], write: (value: T) => void): this {
    this.int(values.length);
    for (const value of values) write(value);
    return this;
  }

  frame(): Buffer {
    this.#bytes.writeInt32BE(this.#length - HEAD.bytes, 0);
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(by: number): number {
    const at = this.#length;
    this.#length += by;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}

export class JuteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  long(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8));
  }

  flag(): boolean {
    return this.#bytes[this.#take(1)] !== 0;
  }

  /** A copy, because the frame may be a small part of a large buffer. */
  bytes(): Buffer {
    const length = this.#length();
    const at = this.#take(length);
    return Buffer.from(this.#bytes.subarray(at, at + length));
  }

  text(): string {
    const length = this.#length();
    const at = this.#take(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  list<T>(read: () => T): T[] {
    const count = this.#length();
    // Each element is at least four bytes.
    if (count * 4 > this.left) throw new GarbageError(`a list of ${count} does not fit into it`);
    return Array.from({ length: count }, read);
  }

  /** Absent bytes, texts and lists have the length -1, which is read as empty. */
  #length(): number {
    const length = this.int();
    if (length < -1) throw new GarbageError(`a length of ${length}`);
    return Math.max(length, 0);
  }

  #take(count: number): number {
    const at = this.#at;
    if (count > this.left) throw new GarbageError(`it ends after ${this.#bytes.length} bytes`);
    this.#at += count;
    return at;
  }
}
