/**
 * What errors of clients and servers say, for messages and causes of our own. They may repeat what
 * nobody should read: the password of a URL, a statement, the id of a claim. So a cause is never
 * the error itself, but a copy of its name and of what is left of its message.
 */
export interface Reading {
  /** Takes out what this server or its clients repeat. Default: `withoutSecrets`. */
  readonly clean?: (text: string) => string;
  /** Where the message is. Default: `message`. */
  readonly messageOf?: (error: Error) => string;
}

/** The codes of all the addresses that were tried are in `errors`, with an empty message. */
export function describe(error: unknown, reading: Reading = {}): string {
  const { clean = withoutSecrets, messageOf = (one: Error) => one.message } = reading;
  if (typeof error === 'string') return clean(error);
  if (!(error instanceof Error)) return 'no reason given';
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (error.message === '' && Array.isArray(errors)) {
    return errors.map((one) => describe(one, reading)).join(', ');
  }
  const said = clean(messageOf(error) || String(code ?? error.name));
  return typeof code === 'string' && !said.includes(code) ? `${said}, ${code}` : said;
}

export function withoutSecrets(text: string): string {
  return text
    .replace(/\/\/\S*@/g, '//***@')
    .replace(/[\r\n]+/g, ' ')
    .slice(0, 300)
    .trim();
}

export function copyOf(name: string, message: string): Error {
  const cause = new Error(message);
  cause.name = name;
  // The stack would only tell where the copy was made.
  cause.stack = `${name}: ${message}`;
  return cause;
}
