import { codeOf, filesOf, type Tree } from './tree.ts';
import { FOREIGN } from './words.ts';

const KEBAB = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/;
const NAMED_BY_CUSTOM = new Set(
  ['README', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY'].map((name) => `${name}.md`).concat('LICENSE'),
);
const UNFINISHED = /\b(TODO|FIXME|XXX)\b|@ts-(ignore|nocheck)/;

const CONCURRENT = /\b(?:test|it|describe)\.concurrent\b|\b(?:inBeds|onOwn|onServer)\(/;
const HOOK = /^import \{[^}]*\b(?:onTest(?:Finished|Failed)|closing|listening)\b[^}]*\} from '/m;

const MAX_ROOT_FILES = 16;
const MAX_README_LINES = 150;
const MAX_COLUMNS = 100;

/** Too many files in the root, files that are too long, lines that are too wide. */
export function sizeProblems(tree: Tree): string[] {
  const problems: string[] = [];
  const root = filesOf(tree, /^[^/]+$/);
  if (root.length > MAX_ROOT_FILES) {
    problems.push(`the root has ${root.length} files, at most ${MAX_ROOT_FILES}`);
  }
  const readme = lines(tree.get('README.md') ?? '').length;
  if (readme > MAX_README_LINES) {
    problems.push(`README.md has ${readme} lines, at most ${MAX_README_LINES}`);
  }
  for (const [path, text] of codeOf(tree)) {
    const all = lines(text);
    const max = maxLines(path);
    if (all.length > max) problems.push(`${path} has ${all.length} lines, at most ${max}`);
    all.forEach((line, n) => {
      const columns = [...line].length;
      if (columns > MAX_COLUMNS) problems.push(`${path}:${n + 1} has ${columns} columns`);
    });
  }
  return problems;
}

/** File names that are not in kebab case. */
export function fileNameProblems(tree: Tree): string[] {
  const bad = (name: string): boolean => !KEBAB.test(name) && !NAMED_BY_CUSTOM.has(name);
  return [...tree.keys()]
    .filter((path) => !path.startsWith(FOREIGN) && path.split('/').some(bad))
    .map((path) => `${path} is not in kebab case`);
}

/** Marks of unfinished work and silenced type checks. */
export function unfinishedProblems(tree: Tree): string[] {
  const problems: string[] = [];
  for (const [path, text] of codeOf(tree)) {
    // This file has to name what it forbids.
    if (path.startsWith('test/methods/tidy')) continue;
    lines(text).forEach((line, n) => {
      const mark = UNFINISHED.exec(line);
      if (mark) problems.push(`${path}:${n + 1} says ${mark[0]}`);
    });
  }
  return problems;
}

/** Jest gives each test file errors of its own: those of Node are no instances of them. */
export function realmProblems(tree: Tree): string[] {
  return filesOf(tree, /^src\/.*\.ts$/)
    .filter(([, text]) => /instanceof (Error|RangeError|TypeError|AggregateError)\b/.test(text))
    .map(
      ([path]) => `${path} asks for an instance of Error; isError() knows those of other realms`,
    );
}

/**
 * Hooks of a test in files where several run at once: those of vitest itself go to whichever test
 * began last, so that its end closes what the others still use.
 */
export function hookProblems(tree: Tree): string[] {
  return filesOf(tree, /^test\/.*\.ts$/)
    .filter(([, text]) => CONCURRENT.test(text) && HOOK.test(text))
    .map(([path]) => `${path} has concurrent tests, and takes hooks of the one that runs`);
}

/** Suites are lists of cases, and types lists of declarations: they may be longer. */
function maxLines(path: string): number {
  return path.startsWith('src/') && !/^src\/testkit\/|types\.ts$/.test(path) ? 300 : 400;
}

function lines(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}
