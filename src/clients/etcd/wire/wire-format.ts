/**
 * Protocol buffers as bytes: numbers and texts, written and read.
 *
 * A message is written from its end to its beginning, so that the length before each part is known
 * without measuring or copying it. All malformed input throws: no length leads out of its message,
 * no number has more than ten bytes, and nested messages have a greatest depth.
 */

export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

const FIRST_BYTES = 512;
const MAX_DEPTH = 32;
/** How many bits of a number are read as an integer of 32 bits. */
const SMALL_BITS = 28;
/** The bit of a byte after which another one of the same number comes. */
const MORE = 128;

export class Writer {
  #buffer: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #start = FIRST_BYTES;

  get bytes(): Buffer {
    return this.#buffer.subarray(this.#start);
  }

  get #length(): number {
    return this.#buffer.length - this.#start;
  }

  text(text: string): void {
    const length = Buffer.byteLength(text);
    this.#grow(length);
    this.#start -= length;
    this.#buffer.write(text, this.#start);
    this.uint(length);
  }

  /** What `write` writes, and its length. */
  message(write: () => void): void {
    const before = this.#length;
    write();
    this.uint(this.#length - before);
  }

  uint(value: number): void {
    let size = 1;
    for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++;
    this.#sevens(value, size, 0);
  }

  /** Negative ones as two's complement of 64 bits. */
  int(value: bigint): void {
    const whole = BigInt.asUintN(64, value);
    if (whole <= Number.MAX_SAFE_INTEGER) return this.uint(Number(whole));
    this.uint(Number(whole >> 35n));
    this.#sevens(Number(BigInt.asUintN(35, whole)), 5, MORE);
  }

  /** Bytes of seven bits; all but the last have `MORE`, and that has `last`. */
  #sevens(value: number, size: number, last: number): void {
    this.#grow(size);
    this.#start -= size;
    let rest = value;
    for (let n = 0; n < size; n++) {
      this.#buffer[this.#start + n] = (rest % 128) | (n < size - 1 ? MORE : last);
      rest = Math.floor(rest / 128);
    }
  }

  #grow(more: number): void {
    if (more <= this.#start) return;
    const length = this.#length;
    const larger = Buffer.allocUnsafe(2 * (length + more));
    larger.set(this.bytes, larger.length - length);
    this.#buffer = larger;
    this.#start = larger.length - length;
  }
}

export class Reader {
  readonly #bytes: Buffer;
  #at: number;
  #end: number;
  #depth = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#at = 0;
    this.#end = bytes.length;
  }

  get atEnd(): boolean {
    return this.#at === this.#end;
  }

  text(): string {
    const length = this.uint();
    return this.#bytes.toString('utf8', this.#at, this.#pass(length));
  }

  /** Inexact beyond 2 to the 53rd: lengths and numbers of fields are not that large. */
  uint(): number {
    let value = 0;
    for (let bits = 0; bits < SMALL_BITS; bits += 7) {
      const byte = this.#byte();
      value |= (byte & 127) << bits;
      if (byte < 128) return value;
    }
    return value + this.#rest() * 2 ** SMALL_BITS;
  }

  int(): bigint {
    let value = 0;
    for (let bits = 0; bits < SMALL_BITS; bits += 7) {
      const byte = this.#byte();
      value |= (byte & 127) << bits;
      if (byte < 128) return BigInt(value);
    }
    return BigInt.asIntN(64, BigInt(value) + (BigInt(this.#rest()) << BigInt(SMALL_BITS)));
  }

  message<T>(read: () => T): T {
    const outer = this.#end;
    const length = this.uint();
    this.#end = this.#endOf(length);
    if (++this.#depth > MAX_DEPTH) throw new MalformedError('messages are nested too deep');
    const value = read();
    this.#depth--;
    this.#end = outer;
    return value;
  }

  skip(wire: number): void {
    if (wire === 0) this.uint();
    else if (wire === 1) this.#pass(8);
    else if (wire === 2) this.#pass(this.uint());
    else if (wire === 5) this.#pass(4);
    else throw new MalformedError(`there is no wire type ${wire}`);
  }

  /** What a number has beyond four bytes: 42 bits at most. */
  #rest(): number {
    let value = 0;
    for (let bits = SMALL_BITS; bits < 70; bits += 7) {
      const byte = this.#byte();
      value += (byte % MORE) * 2 ** (bits - SMALL_BITS);
      if (byte < MORE) return value;
    }
    throw new MalformedError('a number has no end');
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new MalformedError('it ends in the middle of a number');
    return this.#bytes[this.#at++] as number;
  }

  #pass(length: number): number {
    this.#at = this.#endOf(length);
    return this.#at;
  }

  #endOf(length: number): number {
    const end = this.#at + length;
    if (end > this.#end) throw new MalformedError('a part is longer than the whole');
    return end;
  }
}
