/**
 * Compiles the ```ts blocks of the README, the guide and the pages about stores against the
 * sources, and the examples in the sources' own comments. Each is a module of its own, in the place
 * of the page and on its lines, so that complaints point into the page. Names that it does not
 * declare (`db`, `charge`) are declared in docs/snippets.d.ts.
 */
import { join } from 'node:path';
import ts from 'typescript';
import { count, filesOf, ROOT, type Tree } from './tree.ts';

const PAGES = /^(README\.md|docs\/(guide|stores)\/[^/]+\.md)$/;
const SOURCES = /^src\/.*\.ts$/;
/** Up to the next tag or the end of the comment, or between fences. */
const EXAMPLE =
  /^ *\* ```ts\n([\s\S]*?)^ *\* ```$|@example\b((?:(?!\*\/|^ *\* @|^ *\* ```)[\s\S])*)/gm;
export const BLOCK: RegExp = /^```ts\n([\s\S]*?)^```$/gm;
/** A page of its programs: it has decorators of TypeScript's own, and fields in constructors. */
const NESTJS = / from '@nestjs\//;
const NOT_ERASABLE = 1294;
const PRELUDE = join(ROOT, 'docs/snippets.d.ts');

export function snippetProblems(tree: Tree): string[] {
  const blocks = new Map<string, string>();
  for (const [page, text] of filesOf(tree, PAGES)) {
    for (const { index, 1: block = '' } of text.matchAll(BLOCK)) {
      const line = count(text.slice(0, index), '\n') + 1;
      blocks.set(join(ROOT, `${page}.${line}.ts`), '\n'.repeat(line) + block);
    }
  }
  for (const [source, text] of filesOf(tree, SOURCES)) {
    for (const { index, 1: fenced, 2: example = '' } of text.matchAll(EXAMPLE)) {
      const line = count(text.slice(0, index), '\n') + (fenced === undefined ? 0 : 1);
      const code = (fenced ?? example).replace(/^ *\* ?/gm, '').replaceAll('\\@', '@');
      blocks.set(join(ROOT, `${source}.${line}.ts`), '\n'.repeat(line) + code);
    }
  }
  return blocks.size === 0 ? [] : compile(blocks);
}

function compile(blocks: ReadonlyMap<string, string>): string[] {
  const options = optionsOfProject();
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => blocks.has(path) || fileExists(path);
  host.readFile = (path) => blocks.get(path) ?? readFile(path);
  const roots = [...blocks.keys(), ...(fileExists(PRELUDE) ? [PRELUDE] : [])];
  const program = ts.createProgram(roots, options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => !file || roots.includes(file.fileName))
    .filter(({ file, code }) => code !== NOT_ERASABLE || !NESTJS.test(file?.text ?? ''))
    .map(describe);
}

/** What the project demands of itself, save for names that only show something. */
function optionsOfProject(): ts.CompilerOptions {
  const config = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile).config as unknown;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const declared = {
    declaration: false,
    isolatedDeclarations: false,
    experimentalDecorators: true,
  };
  return { ...options, ...declared, noUnusedLocals: false, noUnusedParameters: false };
}

function describe({ file, start, messageText }: ts.Diagnostic): string {
  const text = ts.flattenDiagnosticMessageText(messageText, '\n');
  if (!file) return text;
  const { line } = file.getLineAndCharacterOfPosition(start ?? 0);
  const page = file.fileName.slice(ROOT.length).replace(/\.\d+\.ts$/, '');
  return `${page}:${line + 1}: ${text}`;
}
