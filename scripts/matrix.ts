/** `npm run matrix`: tries the package like `npm test`, and puts what came out into its page. */
import { packageSteps } from './package-steps.ts';
import { putText } from './put-text.ts';

const steps = packageSteps((name, text) => {
  return putText('docs/reference/evidence.md', name, `\n${text}\n\n`);
});
for (const { name, run } of steps) {
  console.log(name);
  const { failed } = await run();
  if (failed.length > 0) throw new Error(`Failed: ${failed.join(', ')}`);
}
process.exit();
