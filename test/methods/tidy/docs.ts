import { posix } from 'node:path';
import ts from 'typescript';
import { slugOf } from '../../../scripts/docs/slug.ts';
import { filesOf, parse, type Tree, visit } from './tree.ts';

const ERRORS_PAGE = 'docs/reference/errors.md';
const OPTIONS_PAGE = 'docs/reference/options.md';
/** Stores have their options on their own pages. */
const ROOMS = [
  ...['connect', 'core', 'dashboard', 'database-locks', 'fences', 'integrations', 'jobs'],
  ...['layers', 'operators', 'primitives'],
];
const WITH_OPTIONS = new RegExp(`^src/(${ROOMS.join('|')})\\b`);
const INDEX = 'docs/README.md';
/** In the texts of messages; a page that depends on a name ends at its folder. */
const NAMED_PAGE = /docs\/(?:[\w-]+\/)+(?:[\w-]+\.md(?:#[\w-]+)?)?/g;
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

/** Every set of options has a table in the reference, with each of its names and no other. */
export function optionProblems(tree: Tree): string[] {
  const [, ...sections] = (tree.get(OPTIONS_PAGE) ?? '').split(/^### `/m);
  const pages = new Map(sections.map((text) => [text.split('`', 1)[0], rowsOf(text)]));
  const problems: string[] = [];
  for (const [name, members] of optionSets(tree)) {
    const shown = pages.get(name)?.join(', ');
    const declared = members.join(', ');
    if (shown !== declared) problems.push(`${OPTIONS_PAGE}: ${name} has ${declared}, not ${shown}`);
    pages.delete(name);
  }
  return [...problems, ...[...pages.keys()].map((name) => `${OPTIONS_PAGE}: there is no ${name}`)];
}

/** The first column of the table. */
function rowsOf(section: string): string[] {
  return [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name);
}

function optionSets(tree: Tree): Map<string, string[]> {
  const sets = new Map<string, string[]>();
  for (const [path, text] of filesOf(tree, WITH_OPTIONS)) {
    visit(parse(path, text), (node) => {
      if (!ts.isInterfaceDeclaration(node) || !/Options$/.test(node.name.text)) return;
      if (!node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return;
      const own = node.members.filter((member) => !/@internal/.test(member.getFullText()));
      sets.set(
        node.name.text,
        own.map((member) => member.name?.getText() ?? ''),
      );
    });
  }
  return sets;
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

/** Pages that messages name, and that are not in the package, or lack the heading. */
export function namedPageProblems(tree: Tree): string[] {
  const { files } = JSON.parse(tree.get('package.json') ?? '{}') as { readonly files?: string[] };
  const packed = (path: string): boolean =>
    !files?.includes(`!${path}`) && !!files?.some((each) => `${path}/`.startsWith(`${each}/`));
  return filesOf(tree, /^src\/.*\.ts$/).flatMap(([path, text]) =>
    pagesNamedIn(path, text).flatMap((named) => {
      const [page = '', anchor] = named.replace(/\/$/, '').split('#');
      const there = named.endsWith('/') || tree.has(page);
      if (!there || !packed(page)) return [`${path} names ${page}, which is not in the package`];
      if (anchor === undefined || anchorsOf(tree.get(page) ?? '').has(anchor)) return [];
      return [`${path} names ${named}, but there is no such heading`];
    }),
  );
}

/** In its strings, not in its comments. */
function pagesNamedIn(path: string, text: string): string[] {
  const named: string[] = [];
  if (!text.includes('docs/')) return named;
  visit(parse(path, text), (node) => {
    if (!ts.isStringLiteralLike(node) && !ts.isTemplateHead(node)) return;
    named.push(...[...node.text.matchAll(NAMED_PAGE)].map(([page = '']) => page));
  });
  return named;
}

/** Pages that the index does not list. */
export function indexProblems(tree: Tree): string[] {
  const links = [...(tree.get(INDEX) ?? '').matchAll(LINK)].map(([, link]) => `docs/${link}`);
  return filesOf(tree, /^docs\/(guide|stores|reference)\/.*\.md$/)
    .filter(([path]) => !links.includes(path))
    .map(([path]) => `${INDEX} does not list ${path}`);
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
  return new Set([...headings].map(([, heading = '']) => slugOf(heading)));
}
