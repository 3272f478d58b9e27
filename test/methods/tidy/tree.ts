import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT: string = fileURLToPath(new URL('../../..', import.meta.url));

/** The text of each file by its path from the root, with `/` on every system. */
export type Tree = ReadonlyMap<string, string>;

const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'site']);
const GENERATED = /\.(tgz|db|db-shm|db-wal)$/;
const CODE = /^(src|test|scripts|examples|bench)\/.*\.(tsx?|mts|cts|mjs)$/;

/** Everything that the project consists of. */
export function readTree(): Tree {
  const tree = new Map<string, string>();
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
      if (NOT_OURS.has(entry.name) || GENERATED.test(entry.name)) continue;
      const path = folder + entry.name;
      if (entry.isDirectory()) walk(`${path}/`);
      else if (entry.isFile()) tree.set(path, readFileSync(join(ROOT, path), 'utf8'));
    }
  };
  walk('');
  return tree;
}

/** Files whose path matches, in order of their paths. */
export function filesOf(tree: Tree, pattern: RegExp): [path: string, text: string][] {
  return [...tree].filter(([path]) => pattern.test(path)).sort(([a], [b]) => (a < b ? -1 : 1));
}

export function codeOf(tree: Tree): [path: string, text: string][] {
  return filesOf(tree, CODE);
}

export function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
}

/** Visits each node under `node`. */
export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  ts.forEachChild(node, (child) => {
    see(child);
    visit(child, see);
  });
}

/** `path:line`, as editors and terminals understand it. */
export function place(source: ts.SourceFile, node: ts.Node): string {
  const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
  return `${source.fileName}:${line + 1}`;
}

export function count(text: string, wanted: string): number {
  return text.split(wanted).length - 1;
}
