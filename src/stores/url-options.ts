import { UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import type { Store } from '../contract/store.ts';

const NUMBERS = ['maxWaiters', 'replicas'];
const FLAGS = ['trustFileSystem', 'allowUnsafe'];

/** The options of a store in the query of its URL; the store refuses unknown ones. */
export function optionsFrom<T>(pairs: Iterable<readonly [name: string, text: string]>): T {
  return Object.fromEntries([...pairs].map(([name, text]) => [name, optionOf(name, text)])) as T;
}

function optionOf(name: string, text: string): string | number | boolean {
  if (NUMBERS.includes(name)) {
    if (/^\d+$/.test(text)) return Number(text);
    throw new UsageError(`${name} of the URL must be a whole number.`);
  }
  if (!FLAGS.includes(name)) return text;
  if (text === 'true' || text === 'false') return text === 'true';
  throw new UsageError(`${name} of the URL must be true or false.`);
}

/** The store's options in the query, and the client's, which stay as written behind the place. */
export function splitQuery<T>(
  { place = '', query }: { readonly place?: string; readonly query: string },
  own: readonly string[],
): { readonly options: T; readonly url: string } {
  const isOwn = (pair: string): boolean =>
    [...new URLSearchParams(pair).keys()].some((name) => own.includes(name));
  const pairs = query.split('&').filter(Boolean);
  const options = optionsFrom<T>(new URLSearchParams(pairs.filter(isOwn).join('&')));
  const others = pairs.filter((pair) => !isOwn(pair)).join('&');
  return { options, url: place + (others && `?${others}`) };
}

/** The servers of a URL of several, behind its scheme, and its query. */
export function serversIn(rest: string): {
  readonly servers: string;
  readonly query: URLSearchParams;
} {
  // An @ in the apparent query means that the password has a ?.
  const [, servers = '//', query = ''] = /^(\/\/[^?#]*)(?:\?([^#@]*))?$/.exec(rest) ?? [];
  return { servers, query: new URLSearchParams(query) };
}

/** The store, which ends the client that was made for it when it is closed. */
export function closingAlso(store: Store, client: { end(): unknown }): Store {
  const close = store.close?.bind(store);
  return Object.assign(store, {
    async close() {
      await close?.();
      await client.end();
    },
  });
}

interface AwsSettings {
  readonly region?: string;
  readonly endpoint?: string;
  /** For S3: the bucket is in the path, as services want it that are not Amazon's. */
  readonly forcePathStyle?: boolean;
}

/** The settings of an AWS client; the rest come from the environment. */
export function awsSettings(query: string): AwsSettings {
  const given = Object.fromEntries(new URLSearchParams(query));
  const known = ['region', 'endpoint', 'forcePathStyle'];
  const { forcePathStyle, ...texts } = readOptions(given, known, 'The URL');
  return { ...texts, ...(forcePathStyle === 'true' && { forcePathStyle: true }) };
}
