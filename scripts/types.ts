/**
 * Checks all types: those of the project, those under NestJS's decorators, those of the dashboard's
 * page in a browser, and the code in the pages. `npm run types` does so by the native compiler;
 * with `-- --tsc` by TypeScript itself, whose word counts.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readTree } from '../test/methods/tidy/tree.ts';
import { ROOT } from './steps.ts';
import { complaintsOf, PROJECTS } from './types/compiler.ts';
import { snippetProblems } from './types/snippets.ts';

const { values } = parseArgs({ options: { tsc: { type: 'boolean' } } });
const compiler = values.tsc ? 'tsc' : 'native';
const complaints = await Promise.all([
  ...PROJECTS.map(async (project) => {
    const found = await complaintsOf(join(ROOT, project), compiler);
    return found.map((complaint) => join(project, complaint));
  }),
  snippetProblems(readTree(), ROOT, compiler),
]);
for (const complaint of new Set(complaints.flat())) {
  console.log(complaint);
  process.exitCode = 1;
}
