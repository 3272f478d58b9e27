/**
 * The ```ts blocks of the README and of the pages, and the examples in the sources' own comments.
 * scripts/types compiles them against the sources, and methods/guide runs them.
 */
import { count, filesOf, type Tree } from './tree.ts';

export const PAGES: RegExp = /^(README\.md|docs\/(guide|stores|reference)\/[^/]+\.md)$/;
export const SOURCES: RegExp = /^src\/.*\.ts$/;
/** Up to the next tag or the end of the comment, or between fences. */
const EXAMPLE =
  /^ *\* ```ts\n([\s\S]*?)^ *\* ```$|@example\b((?:(?!\*\/|^ *\* @|^ *\* ```)[\s\S])*)/gm;
/** With a title in brackets it is a tab of the site. */
const BLOCK = /^```ts(?: \[[^\]\n]+\])?\n([\s\S]*?)^```$/gm;
/** A page of its programs: it has decorators of TypeScript's own, and fields in constructors. */
export const NESTJS: RegExp = / from '@nestjs\//;

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
