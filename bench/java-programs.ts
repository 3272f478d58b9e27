/** The rivals in Java, compiled with their libraries for a run. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HAZELCAST } from '../test/servers/hazelcast-cluster.ts';
import { javaProgram } from '../test/servers/maven.ts';
import { beside, findProgram } from '../test/servers/programs.ts';
import { curatorClassPath } from '../test/servers/zookeeper-server.ts';
import { scratchFolder } from './measuring/processes.ts';

interface Rival {
  readonly main: string;
  readonly source: string;
  libraries(): Promise<string>;
}

/** By the stores that they are compared with. */
const RIVALS: Readonly<Record<string, Rival>> = {
  zookeeper: {
    ...{ main: 'CuratorBench', source: 'curator-bench.java' },
    libraries: curatorClassPath,
  },
  hazelcast: {
    ...{ main: 'HazelcastBench', source: 'hazelcast-bench.java' },
    libraries: async () => join((await javaProgram(HAZELCAST)).jars, '*'),
  },
};

const FOLDER = fileURLToPath(new URL('rivals/java/', import.meta.url));

/** How the rival of a store is started, in the environment of a figure; nothing if it has none. */
export async function javaRival(scheme: string): Promise<Record<string, string>> {
  const rival = RIVALS[scheme];
  if (!rival) return {};
  const java = await findProgram('java');
  const libraries = await rival.libraries();
  const classes = scratchFolder();
  const sources = ['lock-bench.java', rival.source].map((file) => join(FOLDER, file));
  const [javac = '', ...args] = beside(java, 'javac');
  await promisify(execFile)(javac, [...args, '-cp', libraries, '-d', classes, ...sources]);
  const run = ['-XX:-UsePerfData', '-cp', `${libraries}:${classes}`, rival.main];
  return { BENCH_JAVA: JSON.stringify([...java, ...run]) };
}
