/** The Java of the pages compiles with the libraries that it is about. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LIBRARIES } from '../../methods/sharing/libraries.ts';
import { javaProgram } from '../../servers/maven.ts';
import { beside, findProgram } from '../../servers/programs.ts';

test('the classes of the pages', async () => {
  const { jars } = await javaProgram(LIBRARIES.new);
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-java-'));
  const files: string[] = [];
  for (const page of ['shedlock', 'spring']) {
    const text = await readFile(`docs/stores/${page}.md`, 'utf8');
    for (const [, code = ''] of text.matchAll(/```java\n(.*?)```/gs)) {
      const file = join(folder, `${/class (\w+)/.exec(code)?.[1]}.java`);
      await writeFile(file, code);
      files.push(file);
    }
  }
  expect(files).toHaveLength(3);
  const [javac = '', ...args] = beside(await findProgram('java'), 'javac');
  await promisify(execFile)(javac, [...args, '-cp', `${jars}/*`, '-d', folder, ...files]);
  await rm(folder, { recursive: true });
}, 240_000);
