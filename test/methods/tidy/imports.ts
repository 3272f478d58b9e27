/**
 * Who may import whom: arrows between the rooms of `src` go down only, so that each room can be
 * read without those above it. Core sees no store, so that it cannot branch on one; stores see the
 * contract and never each other, so that each can be read, tested and published alone.
 */
import { posix } from 'node:path';
import ts from 'typescript';
import { filesOf, parse, place, type Tree, visit } from './tree.ts';

const BASE = ['base'];
/** Of the contract, clients of servers see the errors alone: they know no claim. */
const ERRORS = ['contract/errors.ts', ...BASE];
const CLIENTS = ['clients/*.ts', 'clients/*', ...ERRORS];
const CONTRACT = ['contract', ...ERRORS];
const QUEUE = ['queue', ...CONTRACT];
/** What several stores are made of. */
const SHARED = ['stores/*.ts', ...['stores/sql', 'stores/consensus', 'stores/document']];
const CALLS = ['store-calls', ...CONTRACT];
const CORE = ['core', ...CALLS];
const PRIMITIVES = ['primitives', ...CORE];
const LOCKS = ['locks.ts', ...PRIMITIVES];
const FACES = ['index.ts', 'connect.ts', 'jobs', 'operators', ...LOCKS];

/** What the main entry has beside locks. */
const BESIDE = ['operators', 'fences', 'database-locks', 'clients/sql', 'integrations/decorator'];

/** What a room of `src` sees beside itself; `*` stands for one name. The first that fits counts. */
const ROOMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['base', []],
  ['contract/errors.ts', BASE],
  ['contract', ERRORS],
  ['clients/*.ts', CLIENTS],
  ['clients/*', CLIENTS],
  ['queue', CONTRACT],
  ['store.ts', QUEUE],
  ['store-calls', CONTRACT],
  ['core', CALLS],
  ['primitives', CORE],
  ['locks.ts', PRIMITIVES],
  ['jobs', ['operators', ...LOCKS]],
  ['operators', LOCKS],
  ['index.ts', [...BESIDE, ...LOCKS]],
  ['stores/openers.ts', ['stores/*', 'interop/*', 'clients/*', ...CONTRACT]],
  ['stores/*.ts', ['clients/*.ts', ...CONTRACT]],
  ['stores/*', [...SHARED, 'clients/*', 'clients/*.ts', ...QUEUE]],
  [
    'interop/*',
    ['interop/rows', 'stores/redis', 'stores/*.ts', 'clients/*', 'clients/*.ts', ...CONTRACT],
  ],
  ['layers/*', CALLS],
  ['database-locks', ['clients/*', 'clients/*.ts', ...CONTRACT]],
  ['fences', ['clients/*', 'clients/*.ts', ...CONTRACT]],
  ['integrations/*', ['integrations/decorator', ...FACES]],
  ['dashboard', FACES],
  ['connect.ts', ['stores/openers.ts', 'operators', ...LOCKS]],
  [
    'cli',
    [
      ...['stores/*', 'interop/*', 'stores/openers.ts', 'clients/facts'],
      ...['clients/sqlite', 'fences', 'jobs/*', 'dashboard', ...FACES],
    ],
  ],
  ['testkit', ['fences', 'stores/memory', 'stores/document', ...FACES]],
]);
/** Where a client that the user has installed is loaded. */
const LOADS_CLIENTS = /^src\/(clients|stores|interop|cli|connect\.ts)/;

type Import = { readonly at: string; readonly to: string; readonly dynamic: boolean };

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
  const [own, its] = [roomOf(path), roomOf(posix.join(posix.dirname(path), to))];
  if (!own) return 'the file is in no room';
  if (!its) return undefined;
  const seen = ROOMS.get(own.rule)?.some((room) => room === its.rule || room === its.name);
  return seen || own.name === its.name ? undefined : `${own.name} must not know ${its.name}`;
}

type Room = { readonly rule: string; readonly name: string };

function roomOf(path: string): Room | undefined {
  for (const rule of ROOMS.keys()) {
    const room = new RegExp(`^src/(${rule.replace('.', '\\.').replace('*', '[^/.]+')})(?:/|$)`);
    const name = room.exec(path)?.[1];
    if (name !== undefined) return { rule, name: rule.endsWith('/*.ts') ? rule : name };
  }
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
