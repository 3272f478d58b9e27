import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
const pool = Buffer.alloc(ID_BYTES * 256);
let used = pool.length;

/** 128 random bits in hexadecimal, drawn in bulk. */
export function randomId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.toString('hex', used - ID_BYTES, used);
}
