/** Signs that break lines, or that a terminal would obey. */
const SIGNS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text of others in a line of ours. */
export function plain(text: string): string {
  return text.replace(SIGNS, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** JSON leaves signs as they are that may still be orders to a terminal. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replace(SIGNS, (sign) => {
    // Those beyond 16 bits are two units to JSON.
    const units = sign.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
    return units.map((unit) => `\\u${unit}`).join('');
  });
}

/** What was written, in a message. */
export function quote(text: string): string {
  return `"${plain(text.length > 80 ? `${text.slice(0, 77)}...` : text)}"`;
}
