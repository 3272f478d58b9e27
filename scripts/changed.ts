/**
 * Which tests on servers CI runs, where they have some ten of 25 minutes; all of them take half an
 * hour. The battery runs all.
 *
 * - The files that see what has changed, directly or not, but at most a sixth of a project: another
 *   sixth in each run.
 * - What most tests see, or everything depends on, such as package.json, says nothing about any
 *   one of them: for such a change one suite of each store, another in each run.
 * - A third of those that do not see it, another in each run, but with the others not more than a
 *   third of the project.
 *
 * Programs in other languages, which share locks, take long to fetch and to start: two files in
 * which each language has its turn stand for all, and of those that see the change one in each run.
 * The API server of Kubernetes takes minutes to build: its tests run for a change of their own room
 * alone. Pages touch nothing.
 *
 * What has changed is what differs from `HOLDFAST_SINCE`, a revision, or else from the newest
 * commit that is a day older than the last one; if there is none, everything.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';
import { turnOf } from '../test/support/this-run.ts';
import { MODULES } from '../tsdown.config.ts';
import { once, ROOT } from './steps.ts';
import { Graph, type Touched, touchedBy } from './touched.ts';

const PROJECTS = ['servers', 'sharing', 'kubernetes'] as const;

export type Project = (typeof PROJECTS)[number];

/** Of the project; neither its pages nor its recordings. */
const CODE = /^(src|test|scripts|examples)\/.*(?<!\.(md|json|png|svg))$/;
/** What everything depends on. */
const GENERAL = /^(package(-lock)?\.json|tsconfig\.json|vitest\.config\.ts)$/;
/** Go and Python, and Java. */
const SMOKE = [
  'test/stores/redis/plain-sharing.test.ts',
  'test/interop/shedlock/sharing-redis.test.ts',
];
const DAY_S = 24 * 60 * 60;

interface Look {
  readonly files: Readonly<Record<Project, readonly string[]>>;
  readonly changed: readonly string[];
  readonly seen: Touched;
}

/** What to run of a project, for a change and by turns. */
export async function chosen(project: Project): Promise<string[]> {
  const { files, seen } = await look();
  const near = await touched(project);
  const all = files[project].length;
  if (project === 'sharing') return [...new Set([...turnOf(near), ...SMOKE])];
  const some = turnOf(near, Math.ceil(all / 6));
  const suites = seen.general ? suitesOf(files[project]) : [];
  const first = new Set([...suites, ...some]);
  const rest = files[project].filter((each) => !first.has(each) && !near.includes(each));
  const room = Math.max(0, Math.ceil(all / 3) - first.size);
  return [...first, ...turnOf(rest, Math.min(room, Math.ceil(rest.length / 3)))];
}

/** What sees the change. */
export async function touched(project: Project): Promise<string[]> {
  const { files, changed, seen } = await look();
  const isNear = (path: string): boolean => CODE.test(path) && path.includes(project);
  if (project === 'kubernetes' && !changed.some(isNear)) return [];
  return files[project].filter((each) => seen.tests.has(each));
}

const look = once(async (): Promise<Look> => {
  const files = await filesOfProjects();
  const changed = changedFiles();
  const tests = new Set(PROJECTS.flatMap((project) => files[project]));
  const { tests: touchedTests, general } = touchedBy(changed, tests, graph());
  const all = general || changed.some((path) => GENERAL.test(path));
  return { files, changed, seen: { tests: touchedTests, general: all } };
});

/** One of each store. */
function suitesOf(files: readonly string[]): string[] {
  const ofStores = new Map<string, string[]>();
  for (const file of files) {
    const store = /^test\/(?:stores|interop)\/([^/]+)\/.*conformance/.exec(file)?.[1];
    if (store !== undefined) ofStores.set(store, [...(ofStores.get(store) ?? []), file]);
  }
  return [...ofStores.values()].flatMap((suites) => turnOf(suites));
}

function graph(): Graph {
  const paths = git('ls-files').filter((path) => CODE.test(path));
  const texts = paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const);
  return new Graph(new Map(texts), MODULES);
}

/** As vitest.config.ts has them; nothing of them is run for this. */
async function filesOfProjects(): Promise<Record<Project, string[]>> {
  const vitest = await createVitest('test', { root: ROOT, watch: false, project: [...PROJECTS] });
  const files: Record<Project, string[]> = { servers: [], sharing: [], kubernetes: [] };
  for (const { project, moduleId } of await vitest.globTestSpecifications()) {
    files[project.name as Project].push(moduleId.slice(ROOT.length));
  }
  await vitest.close();
  for (const project of PROJECTS) files[project].sort();
  return files;
}

function changedFiles(): string[] {
  const [last = ''] = git('log', '-1', '--format=%ct');
  const before = `--before=${Number(last) - DAY_S}`;
  const since = process.env.HOLDFAST_SINCE ?? git('rev-list', '-1', before, 'HEAD')[0];
  return since ? git('diff', '--name-only', since) : git('ls-files');
}

function git(...args: string[]): string[] {
  const text = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 });
  return text.split('\n').filter((line) => line !== '');
}
