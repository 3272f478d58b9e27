/** How the site searches the text of all pages, and what it has to find. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface SearchOptions {
  readonly prefix: boolean;
  readonly boost: Readonly<Record<string, number>>;
  readonly fuzzy: (term: string) => number | false;
  readonly boostDocument: (address: string) => number;
}

/** Of MiniSearch. The functions go into the page as text, so they may use nothing from here. */
export const SEARCH: SearchOptions = {
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  // Short words are names: "jest" is no "test".
  fuzzy: (term) => (term.length > 5 ? 0.2 : false),
  // Guides before docstrings and records.
  boostDocument: (address) => (/^\/(?:api|design|bench|CHANGELOG)/.test(address) ? 0.6 : 1),
};

/** Words, and the page that has to be among the first ten results. */
const FINDS: readonly (readonly [words: string, page: string])[] = [
  ['jest', '/guide/testing-your-app.html'],
  ['prisma', '/guide/database-locks.html'],
  ['LEASE_LOST', '/reference/errors.html'],
  ['quarantine', '/stores/redis.html'],
  ['docker', '/guide/redis-in-docker.html'],
  ['nothing listens at that address', '/guide/troubleshooting.html'],
  ['createElection', '/api/holdfast/election.html'],
];

interface Index {
  search(words: string): readonly { readonly id: string }[];
}

interface MiniSearch {
  readonly default: { loadJSON(json: string, options: object): Index };
}

/** What the search of a site that was built does not find. */
export async function unfound(site: string, modules: string): Promise<string[]> {
  const chunks = join(site, 'assets/chunks');
  const file = readdirSync(chunks).find((name) => name.includes('localSearchIndexroot')) ?? '';
  const { default: json } = await load<{ readonly default: string }>(join(chunks, file));
  const library = join(modules, 'minisearch/dist/es/index.js');
  const { default: miniSearch } = await load<MiniSearch>(library);
  // As the search box of VitePress opens it.
  const options = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] };
  const index = miniSearch.loadJSON(json, { ...options, searchOptions: SEARCH });
  return FINDS.flatMap(([words, page]) => {
    const first = index.search(words).slice(0, 10);
    if (first.some(({ id }) => id.split('#', 1)[0] === page)) return [];
    const found = first.map(({ id }) => id).join(', ');
    return [`the search for ${words} does not show ${page} but ${found || 'nothing'}`];
  });
}

async function load<T>(file: string): Promise<T> {
  return (await import(pathToFileURL(file).href)) as T;
}
