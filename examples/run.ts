/**
 * `npm run example -- NAME [--store URL]` runs an example, and without a name lists them all. What
 * there is, is what is in the folders; what each is about, is the first sentence in its file.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { nearest } from '../src/base/nearest.ts';

const here = new URL('./', import.meta.url);

/** The file of each example by its name: those in `basics`, then the folders. */
const examples = new Map([
  ...readdirSync(new URL('basics', here)).map((file): [string, URL] => {
    return [basename(file, '.ts').replace(/^\d+-/, ''), new URL(`basics/${file}`, here)];
  }),
  ...readdirSync(here)
    .map((folder): [string, URL] => [folder, new URL(`${folder}/index.ts`, here)])
    .filter(([, file]) => existsSync(file)),
]);

const options = { store: { type: 'string' } } as const;
const { positionals } = parseArgs({ options, strict: false, allowPositionals: true });
const [name = ''] = positionals;
const file = examples.get(name.replace(/^\d+-/, ''));
if (file) await import(file.href);
else if (name === '') list();
else {
  const near = nearest(name, examples.keys());
  const meant = near === undefined ? 'npm run example lists all' : `did you mean '${near}'?`;
  console.error(`There is no example '${name}': ${meant}`);
  process.exitCode = 1;
}

function list(): void {
  console.log('npm run example -- NAME [--store URL]\n');
  const width = Math.max(...[...examples.keys()].map((each) => each.length));
  for (const [each, path] of examples) {
    const [, about = ''] =
      /^\/\*\*\s+(?:\* )?([\s\S]*?)\.\s/.exec(readFileSync(path, 'utf8')) ?? [];
    console.log(`  ${each.padEnd(width)}  ${about.replace(/\s+\* /g, ' ')}`);
  }
}
