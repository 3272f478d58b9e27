/** gRPC's framing: before each message its length, and whether it is compressed: always no. */
import { MalformedError } from './wire-format.ts';

const HEAD = 5;

/** Far above any reply of etcd, in bytes: its requests are limited to 1.5 MB by default. */
const MAX_MESSAGE = 256 * 1024 * 1024;

export function frame(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(HEAD + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEAD);
  return framed;
}

/** Puts messages together from pieces as they arrive. */
export class Unframer {
  #pieces: Buffer[] = [];
  #size = 0;

  /** The messages that this piece completes. @throws MalformedError */
  take(piece: Buffer): Buffer[] {
    this.#pieces.push(piece);
    this.#size += piece.length;
    const messages: Buffer[] = [];
    for (;;) {
      const length = this.#length();
      if (length === undefined || this.#size < HEAD + length) return messages;
      const all = this.#joined();
      messages.push(all.subarray(HEAD, HEAD + length));
      this.#size -= HEAD + length;
      this.#pieces = this.#size > 0 ? [all.subarray(HEAD + length)] : [];
    }
  }

  /** Whether part of a message is there. */
  get begun(): boolean {
    return this.#size > 0;
  }

  #length(): number | undefined {
    if (this.#size < HEAD) return undefined;
    const first = this.#pieces[0] as Buffer;
    const head = first.length < HEAD ? this.#joined() : first;
    if (head[0] !== 0) throw new MalformedError('an answer is compressed, or no gRPC');
    const length = head.readUInt32BE(1);
    if (length > MAX_MESSAGE) throw new MalformedError('an answer is too large');
    return length;
  }

  #joined(): Buffer {
    const [first, ...others] = this.#pieces as [Buffer, ...Buffer[]];
    const all = others.length === 0 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }
}
