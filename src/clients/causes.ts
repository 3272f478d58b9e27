/**
 * Descriptions of client and server errors, for messages and causes of our own. Such an error may
 * contain a secret: the password of a URL, a statement, the id of a claim. So a cause is never the
 * error itself, but a copy of its name and of its cleaned message.
 */
export interface Reading {
  /** Removes what this server or its clients repeat. Default: `withoutSecrets`. */
  readonly clean?: (text: string) => string;
  /** Reads the message of an error. Default: `message`. */
  readonly messageOf?: (error: Error) => string;
}

/** If all of several addresses failed, the message is empty and `errors` has a code for each. */
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

/** How deep errors are looked for in errors. */
const DEPTH = 6;

/** The error, and those inside it, in which libraries wrap one another's. */
export function* causesOf(error: unknown): Generator<Readonly<Record<string, unknown>>> {
  let at = error;
  for (let depth = 0; depth < DEPTH && typeof at === 'object' && at !== null; depth++) {
    const one = at as Readonly<Record<string, unknown>>;
    yield one;
    at = one.cause;
  }
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
  // The copy's own stack would only show where it was made.
  cause.stack = `${name}: ${message}`;
  return cause;
}
