/** The program in Go out of programs/go, built once with the modules that its `go.sum` names. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PLACES } from '../../servers/programs.ts';
import type { ForeignCommand } from './foreign-program.ts';

const FOLDER = fileURLToPath(new URL('programs/go/', import.meta.url));
const FILES = ['main.go', 'go.mod', 'go.sum'];

/** The first call may build it, which takes a minute. Rejects without Go or a network. */
export async function goDriver(
  library: 'redsync' | 'redislock',
  address: string,
): Promise<ForeignCommand> {
  return { command: [await built(), library, address] };
}

/** Why tests with it have to be skipped, if they have to. */
export function missingGo(): Promise<string | undefined> {
  const why = (error: Error): string => `not promised: Go on every machine: ${error.message}`;
  return built().then(() => undefined, why);
}

async function built(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of FILES) hash.update(await readFile(join(FOLDER, file)));
  const program = join(PLACES.cache, `go+locks+${hash.digest('hex').slice(0, 16)}`);
  const there = await access(program).then(
    () => true,
    () => false,
  );
  if (!there) await build(program);
  return program;
}

async function build(program: string): Promise<void> {
  await mkdir(PLACES.cache, { recursive: true });
  const folder = await mkdtemp(join(PLACES.cache, 'go-'));
  const env = {
    ...process.env,
    ...{ GOFLAGS: '-mod=readonly -modcacherw', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
    ...{ GOMODCACHE: join(folder, 'modules'), GOCACHE: join(folder, 'built') },
  };
  try {
    await cp(FOLDER, join(folder, 'source'), { recursive: true });
    const args = ['build', '-trimpath', '-o', '../program', '.'];
    await promisify(execFile)('go', args, { cwd: join(folder, 'source'), env });
    await rename(join(folder, 'program'), program);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
