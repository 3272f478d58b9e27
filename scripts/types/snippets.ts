/**
 * Compiles the ```ts blocks of the pages, and the examples in the sources' comments. Each is a file
 * of its own with its code on the lines that it has in the page, so that complaints point there.
 * Names that it does not declare (`db`, `charge`) are declared in docs/snippets.d.ts.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NESTJS, snippetsIn } from '../../test/methods/tidy/snippets.ts';
import type { Tree } from '../../test/methods/tidy/tree.ts';
import { type Compiler, complaintsOf } from './compiler.ts';

const COMPLAINT = /^(.+)\.\d+\.ts\((\d+),\d+\): error (TS\d+): /;
/** Programs of NestJS have fields in constructors. */
const NOT_ERASABLE = 'TS1294';

/** @param project a folder below `node_modules` or with one, whose `tsconfig.json` they obey. */
export async function snippetProblems(
  tree: Tree,
  project: string,
  compiler: Compiler,
): Promise<string[]> {
  const cache = join(project, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'snippets-'));
  try {
    const nestjs = writeSnippets(tree, folder);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configIn(project)));
    const complaints = await complaintsOf(folder, compiler);
    return complaints.flatMap((complaint) => {
      const [place, page, line, code] = COMPLAINT.exec(complaint) ?? [];
      if (place === undefined) return complaint;
      if (code === NOT_ERASABLE && nestjs.has(page)) return [];
      return `${page}:${line}: ${complaint.slice(place.length)}`;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns which pages show programs of NestJS. */
function writeSnippets(tree: Tree, folder: string): Set<string | undefined> {
  const nestjs = new Set<string | undefined>();
  for (const { page, line, code } of snippetsIn(tree)) {
    const file = join(folder, `${page}.${line}.ts`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '\n'.repeat(line - 1) + code);
    if (NESTJS.test(code)) nestjs.add(page);
  }
  return nestjs;
}

/** What the project demands of itself, save for names that only show something. */
function configIn(project: string): object {
  return {
    extends: join(project, 'tsconfig.json'),
    compilerOptions: {
      ...{ declaration: false, isolatedDeclarations: false, experimentalDecorators: true },
      ...{ noUnusedLocals: false, noUnusedParameters: false },
    },
    include: ['.', join(project, 'docs/snippets.d.ts'), join(project, 'src/text.d.ts')],
    exclude: [],
  };
}
