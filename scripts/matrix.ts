/** `npm run matrix`: tries the package as `test:all` does, and puts what came out into its page. */
import { packageSteps } from './package-steps.ts';
import { putText } from './put-text.ts';

const report = (name: string, text: string): Promise<void> =>
  putText('docs/reference/evidence.md', name, `\n${text}\n\n`);
const steps = packageSteps({ fetch: true, report });
for (const { name, run } of steps) {
  console.log(name);
  const { failed } = await run();
  if (failed.length > 0) throw new Error(`Failed: ${failed.join(', ')}`);
}
process.exit();
