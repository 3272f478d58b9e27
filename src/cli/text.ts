/** Characters that break lines, or that a terminal would obey. */
const SIGNS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Foreign text in a line of output. */
export function plain(text: string): string {
  return text.replace(SIGNS, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** JSON leaves unescaped some characters that a terminal would obey. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replace(SIGNS, (sign) => {
    // JSON has two units for those beyond 16 bits.
    const units = sign.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
    return units.map((unit) => `\\u${unit}`).join('');
  });
}

/** A user's words, in a message. */
export function quote(text: string): string {
  return `"${plain(text.length > 80 ? `${text.slice(0, 77)}...` : text)}"`;
}
