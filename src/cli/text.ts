/** Text of others in a line of ours: no line breaks, nothing that a terminal would obey. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => {
    return `\\u{${sign.codePointAt(0)?.toString(16)}}`;
  });
}

/** What was written, in a message. */
export function quote(text: string): string {
  return `"${plain(text.length > 80 ? `${text.slice(0, 77)}...` : text)}"`;
}
