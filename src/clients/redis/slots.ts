/**
 * Which slot of a cluster a key is in: CRC16 (XMODEM) of its tag, or of all of it, modulo 16,384.
 */
export const SLOTS = 16_384;

/** A text of each slot, as far as one has been found. */
const tags: string[] = [];
let tried = 0;

export function slotOf(key: string): number {
  return crc16(tagIn(key) ?? key) % SLOTS;
}

/** The text in the first braces of a key; undefined if there is none. */
export function tagIn(key: string): string | undefined {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1];
}

/** A short text in this slot: a key with `{tag}` in it is there as well. */
export function tagOf(slot: number): string {
  while (tags[slot] === undefined) {
    const text = (tried++).toString(36);
    tags[slotOf(text)] ??= text;
  }
  return tags[slot];
}

function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0);
    crc &= 0xffff;
  }
  return crc;
}
