/** The blocks of TypeScript in the pages, and what it takes to run one. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import ts from 'typescript';
import { BLOCK } from '../tidy/snippets.ts';

export interface Block {
  readonly page: string;
  /** Of its first line of code. */
  readonly line: number;
  readonly code: string;
}

const ROOT = new URL('../../', import.meta.url);

export const readPage = (page: string): string => readFileSync(new URL(page, ROOT), 'utf8');

export function guidePages(): string[] {
  const pages = readdirSync(new URL('docs/guide/', ROOT)).filter((file) => file.endsWith('.md'));
  return ['README.md', ...pages.map((file) => `docs/guide/${file}`)];
}

export function blocksOf(page: string): Block[] {
  const text = readPage(page);
  return [...text.matchAll(BLOCK)].map(({ index, 1: code = '' }) => {
    const line = text.slice(0, index).split('\n').length + 1;
    return { page, line, code };
  });
}

/** What the block names, but for keys, and for functions of its own that it does not call. */
export function namesIn({ code }: Block): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && !isKey(node)) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('block.ts', code, ts.ScriptTarget.Latest, true));
  return names;
}

function isKey(node: ts.Identifier): boolean {
  const { parent } = node;
  const named = ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent);
  const declared = ts.isMethodDeclaration(parent) || ts.isFunctionDeclaration(parent);
  return (named || declared) && parent.name === node;
}

const OPTIONS: ts.CompilerOptions = {
  // Newer ones have `using`, which Node 20 does not.
  target: ts.ScriptTarget.ES2022,
  // Imports become calls, which the world answers.
  module: ts.ModuleKind.CommonJS,
  esModuleInterop: true,
};

export type Module = Record<string, unknown>;

interface Given {
  /** What the block takes as given. */
  readonly names: Module;
  /** What it imports. */
  load(name: string): Promise<Module>;
}

/** Runs the block to its end; answers what it exports. Traces point into the page. */
export async function runBlock(block: Block, { names, load }: Given): Promise<Module> {
  const modules = new Map<string, Module>();
  for (const { fileName } of ts.preProcessFile(block.code).importedFiles) {
    modules.set(fileName, await load(fileName));
  }
  const require = (name: string): Module | undefined => modules.get(name);
  const exports: Module = {};
  const { outputText } = ts.transpileModule(block.code, { compilerOptions: OPTIONS });
  // Braces of its own: the block may declare anew what is given.
  const given = { ...names, require, exports };
  const source = `(async ({ ${Object.keys(given).join(', ')} }) => { {${outputText}} })`;
  const filename = fileURLToPath(new URL(block.page, ROOT));
  const run: unknown = runInThisContext(source, { filename, lineOffset: block.line - 1 });
  await (run as (all: Module) => Promise<void>)(given);
  return exports;
}
