import { describe, expect, it } from 'vitest';
import { assertProblems } from './asserts.ts';
import {
  errorCodeProblems,
  indexProblems,
  linkProblems,
  namedPageProblems,
  optionProblems,
} from './docs.ts';
import { entryProblems, lockFileProblems, manifestOf, uncheckedProblems } from './entries.ts';
import {
  fileNameProblems,
  hookProblems,
  realmProblems,
  sizeProblems,
  unfinishedProblems,
} from './files.ts';
import { importProblems } from './imports.ts';
import { readTree, type Tree } from './tree.ts';
import { typeNameProblems, wordProblems } from './words.ts';

const tree = readTree();
const HOOK = "import { onTestFinished, test } from 'vitest';\n";
const clients = new Set(Object.keys(manifestOf(tree).peerDependencies ?? {}));

type Rule = [sentence: string, problems: (tree: Tree) => readonly string[]];

describe('the tree', () => {
  it.each<Rule>([
    ['has few files in its root, none too long, no line too wide', sizeProblems],
    ['has file names in kebab case', fileNameProblems],
    ['has no marks of unfinished work', unfinishedProblems],
    ['knows errors of other realms', realmProblems],
    ['closes what a test has opened at the end of that test', hookProblems],
    ['says in the testkit what each assertion wanted', assertProblems],
    ['uses the words of the project', wordProblems],
    ['has one meaning for the name of a type', typeNameProblems],
    ['imports along the layers only', (all) => importProblems(all, clients)],
    ['exports what it builds', entryProblems],
    ['has the types of all its code checked', uncheckedProblems],
    ['locks what every system needs', lockFileProblems],
  ])('%s', (_, problems) => expect(problems(tree)).toEqual([]));
});

describe('the pages', () => {
  it.each<Rule>([
    ['explain every error code, and tests provoke it', errorCodeProblems],
    ['list every option', optionProblems],
    ['are all in the index', indexProblems],
    ['link to what is there', linkProblems],
    ['are in the package where a message names them', namedPageProblems],
  ])('%s', (_, problems) => expect(problems(tree)).toEqual([]));
});

describe('these checks find', () => {
  const only = (path: string, text = ''): Tree => new Map([[path, text]]);
  const pages = [...tree].filter(([path]) => /^(docs\/|package\.json$)/.test(path));
  const amid = (path: string, text: string): Tree => new Map([...pages, [path, text]]);
  const bareManifest = JSON.stringify({ ...manifestOf(tree), exports: {} });
  const strangeProgram = JSON.stringify({ ...manifestOf(tree), bin: { a: './dist/a.mjs' } });
  const leftOut =
    '{ "packages": { "node_modules/a": { "optionalDependencies": { "a-x64": "1" } } } }';
  const imports = (path: string, name: string): string[] =>
    importProblems(only(path, `import { x } from '${name}';`), clients);

  it.each([
    ['a long file', sizeProblems(only('src/a.ts', 'x\n'.repeat(301)))],
    ['a long README', sizeProblems(only('README.md', 'x\n'.repeat(151)))],
    ['a wide line', sizeProblems(only('src/a.ts', 'x'.repeat(101)))],
    ['a full root', sizeProblems(new Map([...'abcdefghijklmnopq'].map((name) => [name, ''])))],
    ['a name in camel case', fileNameProblems(only('src/localQueue.ts'))],
    ['unfinished work', unfinishedProblems(only('src/a.ts', '// TODO'))],
    ['an error of one realm', realmProblems(only('src/a.ts', 'if (e instanceof Error) f();'))],
    ...["test.concurrent('a', run);", "inBeds(newBed)('a', run);", "onOwn('a', run);"].map(
      (line): [string, readonly string[]] => [
        `a hook that several tests share: ${line}`,
        hookProblems(only('test/a.test.ts', HOOK + line)),
      ],
    ),
    ['a bare assert.ok()', assertProblems(only('src/testkit/a.ts', 'assert.ok(a && b);'))],
    ['a bare assert()', assertProblems(only('src/testkit/a/b.ts', 'assert(a);'))],
    ['a banned word in a path', wordProblems(only('src/redis-driver.ts'))],
    ['a banned word in a name', wordProblems(only('src/a.ts', 'const lockTimeout = 1;'))],
    [
      'a type of two rooms',
      typeNameProblems(
        new Map([
          ['src/core/a.ts', 'class A {}'],
          ['src/stores/a/a.ts', 'type A = 1;'],
        ]),
      ),
    ],
    ['a store that imports the lease', imports('src/stores/a/index.ts', '../../core/lease.ts')],
    ['a store that imports another', imports('src/stores/a/index.ts', '../b/index.ts')],
    ['a layer that imports a store', imports('src/layers/a/index.ts', '../../stores/b/index.ts')],
    ['a core that imports a store', imports('src/core/lease.ts', '../stores/b/index.ts')],
    ['a core that knows NestJS', imports('src/core/lease.ts', '../integrations/nestjs/index.ts')],
    ['what imports NestJS', imports('src/integrations/nestjs/index.ts', '@nestjs/common')],
    ['a dependency', imports('src/core/lease.ts', 'ms')],
    ['a client loaded at once', imports('src/stores/a/index.ts', 'libsql')],
    [
      'an entry that is not built',
      entryProblems(new Map([...tree, ['package.json', bareManifest]])),
    ],
    [
      'a program that is not built',
      entryProblems(new Map([...tree, ['package.json', strangeProgram]])),
    ],
    ['code that no compiler sees', uncheckedProblems(only('tools/a.ts'))],
    ['a system that is left out', lockFileProblems(only('package-lock.json', leftOut))],
    [
      'an unexplained code',
      errorCodeProblems(only('src/base/errors.ts', "type LockErrorCode = 'A';")),
    ],
    [
      'an option that no page lists',
      optionProblems(only('src/core/a.ts', 'export interface AOptions { a: 1 }')),
    ],
    [
      'a page about options that are not there',
      optionProblems(only('docs/reference/options.md', '### `AOptions`')),
    ],
    ['a page that the index lacks', indexProblems(only('docs/guide/a.md'))],
    ['a page that no package has', namedPageProblems(amid('src/a.ts', "f('docs/design/a.md');"))],
    ['a page that is not there', namedPageProblems(amid('src/a.ts', "f('docs/guide/gone.md');"))],
    [
      'a heading that is not there',
      namedPageProblems(amid('src/a.ts', "f('docs/stores/redis.md#gone');")),
    ],
    ['a dead link', linkProblems(only('README.md', '[a](docs/gone.md)'))],
    ['a dead anchor', linkProblems(only('README.md', '# A\n[a](#b)'))],
  ])('%s', (_, problems) => {
    expect(problems).not.toEqual([]);
  });

  it('nothing wrong with what is right', () => {
    expect(imports('src/stores/a/index.ts', '../../contract/store.ts')).toEqual([]);
    expect(imports('src/stores/a/index.ts', './client.ts')).toEqual([]);
    expect(imports('src/connect.ts', './stores/openers.ts')).toEqual([]);
    const types = new Map([
      ['src/core/a.ts', 'class A {}'],
      ['src/core/claim/a.ts', 'type A = 1;'],
    ]);
    expect(typeNameProblems(types)).toEqual([]);
    const asserts = "assert.ok(f(a, b), 'it is'); assert.equal(a, b);";
    expect(assertProblems(only('src/testkit/a.ts', asserts))).toEqual([]);
  });
});
