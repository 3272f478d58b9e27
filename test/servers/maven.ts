/**
 * A program in Java out of Maven Central, in a folder of its own: its jars, and all that they need.
 * Maven does the work, and checks what it fetches.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { debianProgram, type Packages } from './debian.ts';
import { madeOnce } from './made-once.ts';
import { type Command, PLACES } from './programs.ts';

const MAVEN: Packages = { release: 'bookworm', packages: ['maven', 'default-jre-headless'] };

export interface Artifact {
  readonly group: string;
  readonly name: string;
  readonly version: string;
  /** What is to be in the same folder. */
  readonly with?: readonly Artifact[];
  /** Of its own jar, where what Maven Central says of it is not enough. */
  readonly sha256?: string;
}

export interface JavaProgram {
  readonly java: Command;
  /** The folder with the jars, and with the native libraries beside them. */
  readonly jars: string;
}

/** Rejects if it is not to be had. */
export async function javaProgram(artifact: Artifact): Promise<JavaProgram> {
  const { cache } = PLACES;
  const java = await debianProgram({ ...MAVEN, cache }, 'lib/jvm/default-java/bin/java');
  const jars = join(cache, `maven+${folderName(artifact)}`);
  await madeOnce(jars, (draft) => fetchInto(draft, artifact, java));
  return { java, jars };
}

function folderName({ name, version, with: others = [] }: Artifact): string {
  const own = `${name}+${version}`;
  if (others.length === 0) return own;
  const hash = createHash('sha256').update(JSON.stringify(others)).digest('hex');
  return `${own}+${hash.slice(0, 16)}`;
}

async function fetchInto(jars: string, artifact: Artifact, java: Command): Promise<void> {
  const folder = dirname(jars);
  await writeFile(join(folder, 'pom.xml'), projectOf(artifact));
  const [program = '', ...args] = [...java, ...(await launching(folder))];
  await promisify(execFile)(program, [...args, ...goal(folder, jars)], { cwd: folder });
  await checkJar(jars, artifact);
}

async function checkJar(jars: string, { name, version, sha256 }: Artifact): Promise<void> {
  if (sha256 === undefined) return;
  const jar = await readFile(join(jars, `${name}-${version}.jar`));
  const found = createHash('sha256').update(jar).digest('hex');
  if (found !== sha256) throw new Error(`${name} ${version} has another checksum: ${found}`);
}

/** As `mvn` starts it, which looks for Java in other places. */
async function launching(folder: string): Promise<string[]> {
  const [, , , mvn = ''] = await debianProgram({ ...MAVEN, cache: PLACES.cache }, 'share/maven');
  const boot = (await readdir(join(mvn, 'boot'))).filter((file) => file.endsWith('.jar'));
  return [
    ...['-classpath', boot.map((file) => join(mvn, 'boot', file)).join(':')],
    `-Dclassworlds.conf=${join(mvn, 'bin/m2.conf')}`,
    `-Dmaven.home=${mvn}`,
    `-Dmaven.multiModuleProjectDirectory=${folder}`,
    'org.codehaus.plexus.classworlds.launcher.Launcher',
  ];
}

function goal(folder: string, jars: string): string[] {
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
  return ['--batch-mode', `-Dmaven.repo.local=${join(folder, 'repository')}`, plugin].concat(
    '-DincludeScope=runtime',
    `-DoutputDirectory=${jars}`,
  );
}

function projectOf(artifact: Artifact): string {
  const { with: others = [] } = artifact;
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>holdfast</groupId><artifactId>servers</artifactId><version>1</version>
  <dependencies>${[artifact, ...others].map(dependency).join('')}</dependencies>
</project>
`;
}

function dependency({ group, name, version }: Artifact): string {
  return `<dependency>
    <groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version>
  </dependency>`;
}
