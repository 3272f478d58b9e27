/** The Java of the pages compiles with the libraries that it is about. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LIBRARIES } from '../../methods/sharing/libraries.ts';
import { HAZELCAST } from '../../servers/hazelcast-cluster.ts';
import { type Artifact, javaProgram } from '../../servers/maven.ts';
import { beside, findProgram } from '../../servers/programs.ts';
import { CURATOR } from '../../stores/zookeeper/curator.ts';
import { libraryOf, NEW } from '../redisson/bed.ts';

async function javaOf(page: string): Promise<string[]> {
  const text = await readFile(`docs/${page}.md`, 'utf8');
  return [...text.matchAll(/```java\n(.*?)```/gs)].map(([, code = '']) => code);
}

async function compile(library: Artifact, classes: readonly string[]): Promise<void> {
  const { jars } = await javaProgram(library);
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-java-'));
  const files: string[] = [];
  for (const code of classes) {
    const file = join(folder, `${/class (\w+)/.exec(code)?.[1]}.java`);
    await writeFile(file, code);
    files.push(file);
  }
  const [javac = '', ...args] = beside(await findProgram('java'), 'javac');
  await promisify(execFile)(javac, [...args, '-cp', `${jars}/*`, '-d', folder, ...files]);
  await rm(folder, { recursive: true });
}

test('the classes of the pages', async () => {
  const pages = await Promise.all(['stores/shedlock', 'stores/spring'].map(javaOf));
  expect(pages.flat()).toHaveLength(3);
  await compile(LIBRARIES.new, pages.flat());
});

const RECIPE = {
  library: CURATOR,
  imports: 'org.apache.curator.framework.recipes.locks',
  given: 'org.apache.curator.framework.CuratorFramework client',
};

/** What stands before and after each piece of the guide, by the first class that it names. */
const AROUND = {
  RLock: { library: libraryOf(NEW), imports: 'org.redisson.api', given: 'RedissonClient client' },
  InterProcessMutex: RECIPE,
  InterProcessSemaphoreV2: RECIPE,
  FencedLock: {
    library: HAZELCAST,
    imports: 'com.hazelcast.cp.lock',
    given: 'com.hazelcast.core.HazelcastInstance hazelcast',
  },
};

test('the pieces of the guide', async () => {
  const pieces = await javaOf('guide/sharing-locks');
  const names = pieces.map((piece) => /^\w+/.exec(piece)?.[0]);
  expect(names).toEqual(Object.keys(AROUND));
  for (const [n, { library, imports, given }] of Object.values(AROUND).entries()) {
    await compile(library, [
      `import ${imports}.*;
      import java.util.concurrent.TimeUnit;
      abstract class Piece {
        abstract void buildReport();
        void work(${given}) throws Exception { ${pieces[n]} }
      }`,
    ]);
  }
});
