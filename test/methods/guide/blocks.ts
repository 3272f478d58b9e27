/** What it takes to run a block of TypeScript of a page, or an example in a comment. */
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import ts from 'typescript';
import { NESTJS, type Snippet, snippetsIn } from '../tidy/snippets.ts';
import { readTree } from '../tidy/tree.ts';

const ROOT = new URL('../../../', import.meta.url);

/** Tells which block is meant: one of this page, with these words, which no other of it has. */
export interface Place {
  readonly page: string;
  readonly has: string;
}

export const isAt =
  ({ page, code }: Snippet) =>
  (place: Place): boolean =>
    place.page === page && code.includes(place.has);

/** What the block names, but for keys, and for functions of its own that it does not call. */
export function namesIn({ code }: Snippet): Set<string> {
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
export async function runBlock(block: Snippet, { names, load }: Given): Promise<Module> {
  const modules = new Map<string, Module>();
  for (const { fileName } of ts.preProcessFile(block.code).importedFiles) {
    modules.set(fileName, await load(fileName));
  }
  const require = (name: string): Module | undefined => modules.get(name);
  const exports: Module = {};
  const decorators = NESTJS.test(block.code) && DECORATORS_OF_NESTJS;
  const compilerOptions = { ...OPTIONS, ...decorators };
  const { outputText } = ts.transpileModule(block.code, { compilerOptions });
  // Braces of its own: the block may declare anew what is given.
  const given = { ...names, require, exports };
  const source = `(async ({ ${Object.keys(given).join(', ')} }) => { {${outputText}} })`;
  const filename = fileURLToPath(new URL(block.page, ROOT));
  const run: unknown = runInThisContext(source, { filename, lineOffset: block.line - 1 });
  await (run as (all: Module) => Promise<void>)(given);
  return exports;
}

/** Runs the block with these words, to its end; answers what it exports. */
export async function runShown<Shown>(words: string): Promise<Shown> {
  const block = snippetsIn(readTree()).find(({ code }) => code.includes(words));
  if (!block) throw new Error(`No page shows ${words}.`);
  const exports: unknown = await runBlock(block, { names: {}, load: (name) => import(name) });
  return exports as Shown;
}

const DECORATORS_OF_NESTJS = { experimentalDecorators: true, emitDecoratorMetadata: true };
