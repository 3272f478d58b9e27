import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** So many are drawn at a time. Each is a part of their text, and keeps all of it in memory. */
const pool = Buffer.alloc(ID_BYTES * 64);
let drawn = '';
let used = 0;

/** 128 random bits in hexadecimal, drawn in bulk. */
export function randomId(): string {
  if (used === drawn.length) {
    drawn = randomFillSync(pool).toString('hex');
    used = 0;
  }
  used += 2 * ID_BYTES;
  return drawn.slice(used - 2 * ID_BYTES, used);
}
