/**
 * Programs in Java out of programs/, compiled with a library out of Maven Central, once for each
 * version of either.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { madeOnce } from '../../servers/made-once.ts';
import { type Artifact, javaProgram } from '../../servers/maven.ts';
import { beside, findProgram, PLACES } from '../../servers/programs.ts';
import type { ForeignCommand } from './foreign-program.ts';

const FOLDER = fileURLToPath(new URL('programs/', import.meta.url));

/**
 * The program of that class, in a file of that name, which extends Driver. The first call may fetch
 * the library.
 */
export async function javaDriver(
  main: string,
  library: Artifact,
  ...args: readonly string[]
): Promise<ForeignCommand> {
  const { jars } = await javaProgram(library);
  const { name, version } = library;
  return driverOn(main, { name: `${name}+${version}`, path: `${jars}/*` }, ...args);
}

/** What a driver needs, where it is already. */
export interface ClassPath {
  /** Of this library in this version, and of no other. */
  readonly name: string;
  readonly path: string;
}

/** The same with a library that is there. */
export async function driverOn(
  main: string,
  { name, path }: ClassPath,
  ...args: readonly string[]
): Promise<ForeignCommand> {
  const java = await findProgram('java');
  const sources = ['Driver', main].map((file) => join(FOLDER, `${file}.java`));
  const hash = createHash('sha256');
  for (const source of sources) hash.update(await readFile(source));
  const classes = join(PLACES.cache, `classes+${name}+${hash.digest('hex').slice(0, 16)}`);
  await madeOnce(classes, (draft) => compile(sources, path, draft));
  const flags = ['-XX:TieredStopAtLevel=1', '-XX:-UsePerfData', '-Xshare:auto', '-Xmx256m'];
  return { command: [...java, ...flags, '-cp', `${path}:${classes}`, main, ...args] };
}

async function compile(sources: readonly string[], path: string, classes: string): Promise<void> {
  const [javac = '', ...args] = beside(await findProgram('java'), 'javac');
  await mkdir(classes);
  await promisify(execFile)(javac, [...args, '-cp', path, '-d', classes, ...sources]);
}
