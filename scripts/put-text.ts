import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './steps.ts';

/** Puts what was measured into a page, between `<!-- name -->` and `<!-- /name -->`. */
export async function putText(page: string, name: string, text: string): Promise<void> {
  const path = join(ROOT, page);
  const before = readFileSync(path, 'utf8');
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const [from, to] = [before.indexOf(begin), before.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${page} has no place for ${name}.`);
  writeFileSync(path, `${before.slice(0, from + begin.length)}${text}${before.slice(to)}`);
  // The project's formatter aligns the columns of tables.
  await run(['biome', 'format', '--write', page]);
}
