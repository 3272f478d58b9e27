/**
 * Descriptions of client and server errors, for messages and causes of our own. Such an error may
 * contain a secret: the password of a URL, a statement, the id of a claim. So a cause is never the
 * error itself, but a copy of its name and of its cleaned message.
 */
import { isError } from '../base/errors.ts';

/**
 * If all of several addresses failed, the message is empty and `errors` has a code for each.
 * @param clean removes what this server or its clients repeat.
 */
export function describe(error: unknown, clean: typeof withoutSecrets = withoutSecrets): string {
  if (typeof error === 'string') return clean(error);
  if (!isError(error)) return 'no reason given';
  const { code, errors, sqlMessage } = error as unknown as Thrown;
  if (error.message === '' && Array.isArray(errors)) {
    return errors.map((one) => describe(one, clean)).join(', ');
  }
  // Clients of MySQL add the statement to the message.
  const message = typeof sqlMessage === 'string' ? sqlMessage : error.message;
  const said = clean(message || String(code ?? error.name));
  return typeof code === 'string' && !said.includes(code) ? `${said}, ${code}` : said;
}

/** An error, with the fields in which libraries and servers say more. */
export type Thrown = Readonly<Record<string, unknown>>;

const MOST = 12;

/** Where libraries keep the error that they wrap: Sequelize, TypeORM, Prisma. */
const INSIDE = ['cause', 'original', 'parent', 'driverError', 'meta', 'driverAdapterError'];

/** The error, and those inside it, in which libraries wrap one another's, from the outside in. */
export function causesOf(error: unknown): readonly Thrown[] {
  const all: Thrown[] = [];
  const left = [error];
  while (left.length > 0 && all.length < MOST) {
    const one = left.shift() as Thrown;
    if (typeof one !== 'object' || one === null || all.includes(one)) continue;
    all.push(one);
    left.push(...INSIDE.map((name) => one[name]));
  }
  return all;
}

export function withoutSecrets(text: string): string {
  return text
    .replace(/\/\/\S*@/g, '//***@')
    .replace(/[\r\n]+/g, ' ')
    .slice(0, 300)
    .trim();
}

export function causeFrom(error: unknown, said: string): Error {
  return copyOf(isError(error) ? error.name : 'Error', said);
}

export function copyOf(name: string, message: string): Error {
  const cause = new Error(message);
  cause.name = name;
  // The copy's own stack would only show where it was made.
  cause.stack = `${name}: ${message}`;
  return cause;
}
