import { expect, it } from 'vitest';
import { Graph, touchedBy } from '../../../scripts/touched.ts';

const FILES = {
  'src/index.ts':
    "export { a } from './core/a.ts';\nexport { type B, b as other } from './core/b.ts';\nlocal();",
  'src/core/a.ts': "const program = new URL('program.lua', import.meta.url);",
  'src/core/program.lua': '',
  'src/core/b.ts': "const c = await import('./c.ts');",
  'src/core/c.ts': '',
  'src/stores/openers.ts': "const load = () => import('./far/open.ts');",
  'src/stores/far/open.ts': '',
  'test/stores/near/a.test.ts': "import { a } from 'holdfast';",
  'test/stores/near/b.test.ts': "import {\n  other,\n  a as mine,\n} from '../../../src/index.ts';",
  'test/stores/near/child.test.ts': "fork(new URL('children/child.ts', import.meta.url));",
  'test/stores/near/children/child.ts': "import { a } from 'holdfast';",
  'test/stores/near/all.test.ts': "import 'holdfast';\nread(new URL('data/', import.meta.url));",
  'test/stores/near/data/text.yml': '',
  'test/stores/far/url.test.ts': "import '../../../src/stores/openers.ts';",
};
const graph = new Graph(new Map(Object.entries(FILES)), new Map([['holdfast', 'src/index.ts']]));

const above = (path: string): string[] =>
  graph.testsAbove(path).map((test) => test.replace(/.*\/(.*)\.test\.ts/, '$1'));

it('a test sees what it imports, and what is loaded or started', () => {
  expect(above('src/core/a.ts')).toEqual(['a', 'b', 'child', 'all']);
  expect(above('src/core/program.lua')).toEqual(['a', 'b', 'child', 'all']);
});

it('a test sees only what it imports of an index', () => {
  expect(above('src/core/b.ts')).toEqual(['b', 'all']);
  expect(above('src/core/c.ts')).toEqual(['b', 'all']);
});

it('a test sees all of its room, and of the room of the same name', () => {
  expect(above('test/stores/near/data/text.yml')).toEqual(['a', 'b', 'child', 'all']);
  expect(above('src/stores/far/open.ts')).toEqual(['url']);
  expect(above('src/stores/openers.ts')).toEqual(['url']);
});

it('what most tests see is general, and touches none in particular', () => {
  const tests = new Set(Object.keys(FILES).filter((path) => path.endsWith('.test.ts')));
  const touched = (...changed: string[]): unknown => touchedBy(changed, tests, graph);
  expect(touched('docs/a.md')).toEqual({ tests: new Set(), general: false });
  expect(touched('src/core/a.ts')).toEqual({ tests: new Set(), general: true });
  const [b, all] = ['test/stores/near/b.test.ts', 'test/stores/near/all.test.ts'];
  expect(touched('src/core/b.ts', 'src/core/a.ts')).toEqual({
    ...{ tests: new Set([b, all]), general: true },
  });
});
