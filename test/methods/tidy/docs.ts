import { posix } from 'node:path';
import ts from 'typescript';
import { filesOf, parse, type Tree, visit } from './tree.ts';

const ERRORS_PAGE = 'docs/reference/errors.md';
const LINK = /\]\(([^)\s]+)(?:\s"[^"]*")?\)/g;
const CODE_BLOCK = /^```[\s\S]*?^```/gm;

/** Every code of `LockErrorCode` has a heading in the reference and is provoked by a test. */
export function errorCodeProblems(tree: Tree): string[] {
  const codes = errorCodes(tree);
  const page = tree.get(ERRORS_PAGE) ?? '';
  const headings = new Set([...page.matchAll(/^##+ `?([A-Z_]+)`?$/gm)].map(([, code]) => code));
  const tests = filesOf(tree, /^(test|src\/testkit)\/.*\.ts$/).map(([, text]) => text);
  const problems = codes.length === 0 ? ['src/base/errors.ts declares no LockErrorCode'] : [];
  for (const code of codes) {
    if (!headings.has(code)) problems.push(`${code} has no heading in ${ERRORS_PAGE}`);
    if (!tests.some((text) => text.includes(`'${code}'`))) {
      problems.push(`${code} occurs in no test`);
    }
  }
  for (const heading of headings) {
    if (heading && !codes.includes(heading)) {
      problems.push(`${ERRORS_PAGE} has a heading for ${heading}, which is no code`);
    }
  }
  return problems;
}

/** Relative links to files that are not there, or to headings that are not in them. */
export function linkProblems(tree: Tree): string[] {
  const problems: string[] = [];
  const folders = new Set([...tree.keys()].flatMap(foldersOf));
  for (const [path, text] of filesOf(tree, /\.md$/)) {
    for (const [, link = ''] of text.replace(CODE_BLOCK, '').matchAll(LINK)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : posix.join(posix.dirname(path), file).replace(/\/$/, '');
      const there = tree.get(target);
      if (there === undefined && !folders.has(target)) {
        problems.push(`${path} links to ${link}, which is not there`);
      } else if (anchor !== undefined && !anchorsOf(there ?? '').has(anchor)) {
        problems.push(`${path} links to ${link}, but there is no such heading`);
      }
    }
  }
  return problems;
}

function errorCodes(tree: Tree): string[] {
  const codes: string[] = [];
  visit(parse('src/base/errors.ts', tree.get('src/base/errors.ts') ?? ''), (node) => {
    if (!ts.isTypeAliasDeclaration(node) || node.name.text !== 'LockErrorCode') return;
    visit(node, (part) => {
      if (ts.isStringLiteral(part)) codes.push(part.text);
    });
  });
  return codes;
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, n) => parts.slice(0, n + 1).join('/'));
}

/** The anchors that code hosts make of headings. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replace(CODE_BLOCK, '').matchAll(/^#+ (.+)$/gm);
  const slug = (heading: string): string =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
  return new Set([...headings].map(([, heading = '']) => slug(heading)));
}
