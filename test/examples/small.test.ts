import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EXAMPLES, outputOf, start } from './run.ts';

/** A line of what each of them prints. */
const LINES: Readonly<Record<string, RegExp>> = {
  '01-mutex': /✓ 20 deposits of 10 at the same time make 200$/m,
  '02-once-per-cluster': /^machine 3 leaves it to machine 1$[\s\S]*✓ built 1 time by 3 machines$/m,
  '03-semaphore': /✓ started in order: small, medium, large, tiny$\n +✓ at most 4 of 4/m,
  '04-rw-lock': /✓ read before: 1,1; after: 2,2$/m,
  '05-election':
    /^active: worker 2 and worker 3; standing by: none$\n +✓ who stood by has taken the seat/m,
  '06-transfer': /✓ ada has 80, ben has 120$/m,
  '07-fence':
    /^refused: Token \d+ of "stock:lamp" is stale: [^\n]+\n +✓ 3 of 10 are sold, 7 are left$/m,
  '08-rate-limit': /✓ 8 calls, and never more than 3 in a second$/m,
  '09-newest':
    /^save 10 waits, and no other$[\s\S]*✓ built next: save 10\n +✓ 8 builds were spared$/m,
  '10-hand-over': /^not again: Lease lost on "order:4711": [^\n]+\n +✓ the order was packed 1 /m,
  '11-seats': /✓ no seat is sold twice$\n +✓ \d seats are sold, and nobody sits alone$/m,
};

/** Folders that are read, or used by the others, and not run. */
const WITHOUT_PROGRAM = new Set(['basics', 'frameworks', 'lock-server', 'shared']);

describe('small examples', () => {
  it('are all tried here', () => {
    const files = readdirSync(join(EXAMPLES, 'basics'));
    expect(files).toEqual(Object.keys(LINES).map((name) => `${name}.ts`));
  });

  it.each(Object.entries(LINES))('%s', async (name, line) => {
    expect(await outputOf(name)).toMatch(line);
  });

  it('take the URL of another store', async () => {
    const output = await outputOf('mutex', '--store', 'memory:');
    expect(output).toMatch(LINES['01-mutex'] as RegExp);
  });

  it('refuse the URL of a store that does not exist', async () => {
    const { code, output } = await start('mutex', '--store', 'memroy:').ended;
    expect(output).toContain("did you mean 'memory:'?");
    expect(code).toBe(1);
  });
});

describe('npm run example', () => {
  it('lists what there is, with a line about each', async () => {
    const output = await outputOf();
    const folders = readdirSync(EXAMPLES, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !WITHOUT_PROGRAM.has(entry.name))
      .map(({ name }) => name);
    const small = Object.keys(LINES).map((name) => name.slice(3));
    const listed = [...output.matchAll(/^ {2}([a-z-]+) {2,}\S.{20,}$/gm)].map(([, name]) => name);
    expect(listed).toEqual([...small, ...folders]);
  });

  it('suggests what was meant', async () => {
    const { code, output } = await start('inventry').ended;
    expect(output).toBe("There is no example 'inventry': did you mean 'inventory'?\n");
    expect(code).toBe(1);
  });

  it('ends with status 1 if something does not come out as it has to', () => {
    const { href } = pathToFileURL(join(EXAMPLES, 'shared/check.ts'));
    const program = `import { check } from '${href}';
check(true, 'one lamp sold');
check(false, 'two lamps sold');`;
    const options = ['--import', './scripts/sources.mjs', '--input-type=module', '-e', program];
    const cwd = join(EXAMPLES, '..');
    const { status, stdout } = spawnSync(process.execPath, options, { cwd, encoding: 'utf8' });
    expect(stdout.split('\n').map((line) => line.trim())).toEqual([
      '✓ one lamp sold',
      '✗ This is not how it has to be: two lamps sold',
      '',
    ]);
    expect(status).toBe(1);
  });
});
