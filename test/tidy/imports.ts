/**
 * Who may import whom. Stores and layers see the contract and nothing else, so that each can be
 * read, tested and published alone; core sees no store, so that it cannot branch on one.
 */
import { posix } from 'node:path';
import ts from 'typescript';
import { filesOf, parse, place, type Tree, visit } from './tree.ts';

const CONTRACT = new Set(
  [
    ...['store', 'admission', 'errors', 'duration', 'names', 'clock', 'line', 'read-options'],
    ...['show', 'max-waiters', 'random-id', 'answers', 'patience', 'aborts'],
    ...[
      'stores/status-lines',
      'stores/causes',
      'stores/wakes',
      'stores/claim-wakes',
      'stores/informed-claim',
      'stores/name-text',
      'stores/abortable',
    ],
  ].map((name) => `src/${name}.ts`),
);
/** Parts that keep to themselves and the contract: `src/stores/sqlite`, `src/layers/quorum`. */
const ISLAND = /^src\/(?:(?:stores|layers)\/[^/.]+|fence|sql)/;
/** Stores share what speaks no dialect; a fence is entered in a transaction as locks are. */
const SHARED = new Map([
  ['src/stores/postgres', ['src/stores/sql']],
  ['src/stores/mysql', ['src/stores/sql']],
  [
    'src/fences',
    ['src/database-locks', ...['redis', 'etcd', 'zookeeper'].map((one) => `src/stores/${one}`)],
  ],
]);
/** Core serves these, and must not know them. */
const ABOVE_CORE =
  /^src\/(stores|layers|fence|sql|testkit|cli|nestjs|opentelemetry|connect\.ts|index\.ts)/;
/** Where a client that the user has installed is loaded. */
const LOADS_CLIENTS = /^src\/(stores|cli|connect\.ts)/;

interface Import {
  readonly at: string;
  readonly to: string;
  readonly dynamic: boolean;
}

export function importProblems(tree: Tree, clients: ReadonlySet<string>): string[] {
  const problems: string[] = [];
  for (const [path, text] of filesOf(tree, /^src\/.*\.ts$/)) {
    for (const found of importsOf(path, text)) {
      const problem = problemOf(path, found, clients);
      if (problem) problems.push(`${found.at} imports ${found.to}: ${problem}`);
    }
  }
  return problems;
}

function problemOf(
  path: string,
  { to, dynamic }: Import,
  clients: ReadonlySet<string>,
): string | undefined {
  if (to.startsWith('node:')) return undefined;
  if (!to.startsWith('.')) {
    const allowed = dynamic && LOADS_CLIENTS.test(path) && clients.has(to);
    return allowed ? undefined : 'the library has no dependencies';
  }
  const target = posix.join(posix.dirname(path), to);
  const [island] = ISLAND.exec(path) ?? [];
  if (island) {
    const other = ISLAND.exec(target)?.[0];
    const own = other === island || (other !== undefined && SHARED.get(island)?.includes(other));
    return own || CONTRACT.has(target) ? undefined : `${island} may import only the contract`;
  }
  if (!ABOVE_CORE.test(path) && ABOVE_CORE.test(target)) return 'core must not know it';
  return undefined;
}

function importsOf(path: string, text: string): Import[] {
  const source = parse(path, text);
  const found: Import[] = [];
  const add = (node: ts.Node, name: ts.Node | undefined, dynamic: boolean): void => {
    if (name && ts.isStringLiteralLike(name)) {
      found.push({ at: place(source, node), to: name.text, dynamic });
    }
  };
  visit(source, (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      add(node, node.moduleSpecifier, false);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node, node.argument.literal, false);
    } else if (ts.isCallExpression(node) && loads(node.expression)) {
      add(node, node.arguments[0], true);
    }
  });
  return found;
}

function loads(called: ts.Expression): boolean {
  return (
    called.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(called) && called.text === 'require')
  );
}
