import ts from 'typescript';
import { codeOf, filesOf, parse, place, type Tree, visit } from './tree.ts';

/** One word for one thing: what the project calls otherwise, or not at all. */
const BANNED = new Set([
  ...['ticket', 'handle', 'guard', 'owner', 'locktimeout', 'manager', 'helper', 'util'],
  ...['driver', 'adapter', 'backend'],
]);

/** Whose rooms are the folders below. */
const WINGS = 'cli|clients|integrations|interop|jobs|layers|operators|stores|testkit';
const ROOM = new RegExp(`^src/((?:${WINGS})/[^/]+(?=/)|[^/]+)`);

/** What has none of them, as parts of words or apart, need not be parsed: nine files of ten. */
const MENTIONED = new RegExp(
  [...BANNED].join('|').replace('locktimeout', 'locks?[^a-z]*timeout'),
  'i',
);

/** What drives programs in other languages, which have words and customs of their own. */
export const FOREIGN = 'test/methods/sharing/';

/** Frameworks say there what methods are called. */
const FRAMEWORKS = 'examples/frameworks/';

const namesOthers = (path: string): boolean =>
  path.startsWith(FOREIGN) || path.startsWith(FRAMEWORKS);

/** Banned words in the names of files and of what the code declares; names of others are free. */
export function wordProblems(tree: Tree): string[] {
  const problems: string[] = [];
  for (const path of tree.keys()) {
    if (namesOthers(path)) continue;
    const word = bannedWord(path);
    if (word) problems.push(`${path}: '${word}' is not a word of this project`);
  }
  for (const [path, text] of codeOf(tree)) {
    if (namesOthers(path) || !MENTIONED.test(text)) continue;
    const source = parse(path, text);
    visit(source, (node) => {
      const name = declaredName(node);
      const word = name && bannedWord(name.text);
      if (word) problems.push(`${place(source, node)}: '${word}' in ${name.text}`);
    });
  }
  return problems;
}

/** Types that have one name in several rooms, and so several meanings. */
export function typeNameProblems(tree: Tree): string[] {
  const problems: string[] = [];
  const rooms = new Map<string, string>();
  for (const [path, text] of filesOf(tree, /^src\/.*\.tsx?$/)) {
    const [, room = ''] = ROOM.exec(path) ?? [];
    const source = parse(path, text);
    visit(source, (node) => {
      const declares =
        ts.isClassDeclaration(node) ||
        ts.isInterfaceDeclaration(node) ||
        ts.isTypeAliasDeclaration(node);
      const name = declares && node.name?.text;
      if (!name) return;
      const other = rooms.get(name) ?? room;
      rooms.set(name, other);
      if (other !== room)
        problems.push(`${place(source, node)}: ${name} is a type of ${other} too`);
    });
  }
  return problems;
}

function declaredName(node: ts.Node): ts.Identifier | undefined {
  const declares =
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isTypeElement(node) ||
    ts.isClassElement(node);
  return declares && node.name && ts.isIdentifier(node.name) ? node.name : undefined;
}

/** `lockTimeout` and `lock-timeout` are two words each, and banned as one. */
function bannedWord(name: string): string | undefined {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .map((word) => word.replace(/s$/, ''));
  const pairs = words.slice(1).map((word, n) => `${words[n]}${word}`);
  return [...words, ...pairs].find((word) => BANNED.has(word));
}
