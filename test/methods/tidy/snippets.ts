/**
 * The ```ts blocks of the README and of the pages, and the examples in the sources' own comments.
 * They are compiled here against the sources, and run in methods/guide. Each is a module of its
 * own, in the place of the page and on its lines, so that complaints point into the page. Names
 * that it does not declare (`db`, `charge`) are declared in docs/snippets.d.ts.
 */
import { join } from 'node:path';
import ts from 'typescript';
import { count, filesOf, ROOT, type Tree } from './tree.ts';

export const PAGES: RegExp = /^(README\.md|docs\/(guide|stores|reference)\/[^/]+\.md)$/;
export const SOURCES: RegExp = /^src\/.*\.ts$/;
/** Up to the next tag or the end of the comment, or between fences. */
const EXAMPLE =
  /^ *\* ```ts\n([\s\S]*?)^ *\* ```$|@example\b((?:(?!\*\/|^ *\* @|^ *\* ```)[\s\S])*)/gm;
const BLOCK = /^```ts\n([\s\S]*?)^```$/gm;
/** A page of its programs: it has decorators of TypeScript's own, and fields in constructors. */
export const NESTJS: RegExp = / from '@nestjs\//;
const NOT_ERASABLE = 1294;
const PRELUDE = join(ROOT, 'docs/snippets.d.ts');

export interface Snippet {
  /** The page, or the source. */
  readonly page: string;
  /** Of the beginning of its code. */
  readonly line: number;
  readonly code: string;
}

export function snippetsIn(tree: Tree): Snippet[] {
  const snippets: Snippet[] = [];
  const lineAt = (text: string, index: number): number => count(text.slice(0, index), '\n') + 1;
  for (const [page, text] of filesOf(tree, PAGES)) {
    for (const { index, 1: code = '' } of text.matchAll(BLOCK)) {
      snippets.push({ page, line: lineAt(text, index) + 1, code });
    }
  }
  for (const [page, text] of filesOf(tree, SOURCES)) {
    for (const { index, 1: fenced, 2: example = '' } of text.matchAll(EXAMPLE)) {
      const line = lineAt(text, index) + (fenced === undefined ? 0 : 1);
      const code = (fenced ?? example).replace(/^ *\* ?/gm, '').replaceAll('\\@', '@');
      snippets.push({ page, line, code });
    }
  }
  return snippets;
}

export function snippetProblems(tree: Tree): string[] {
  const blocks = snippetsIn(tree).map(({ page, line, code }) => {
    return [join(ROOT, `${page}.${line}.ts`), '\n'.repeat(line - 1) + code] as const;
  });
  return blocks.length === 0 ? [] : compile(new Map(blocks));
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
