/** The programs in Go out of programs/go, each built once with the modules that `go.sum` names. */
import { createHash } from 'node:crypto';
import { access, cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GoPlace, goBuild, withGo } from '../../servers/go-build.ts';
import { PLACES } from '../../servers/programs.ts';
import type { ForeignCommand } from './foreign-program.ts';

const FOLDER = fileURLToPath(new URL('programs/go/', import.meta.url));
const FILES = ['go.mod', 'go.sum', 'driver/driver.go'];

export type GoProgram = 'redis' | 'kubernetes';

/** The first call may build it, which takes a minute or two. Rejects without Go or a network. */
export async function goDriver(
  program: GoProgram,
  ...args: readonly string[]
): Promise<ForeignCommand> {
  return { command: [await built(program), ...args] };
}

/** Why tests with it have to be skipped, if they have to. */
export function missingGo(program: GoProgram): Promise<string | undefined> {
  const why = (error: Error): string => `not promised: Go on every machine: ${error.message}`;
  return built(program).then(() => undefined, why);
}

/** @param place with what was compiled before; default: all is compiled. */
export async function built(program: GoProgram, place?: GoPlace): Promise<string> {
  const hash = createHash('sha256');
  for (const file of [...FILES, `${program}/main.go`]) {
    hash.update(await readFile(join(FOLDER, file)));
  }
  const output = join(PLACES.cache, `go+${program}+${hash.digest('hex').slice(0, 16)}`);
  const there = await access(output).then(
    () => true,
    () => false,
  );
  if (there) return output;
  if (!place) return withGo((own) => built(program, own));
  await cp(FOLDER, join(place.folder, 'programs'), { recursive: true });
  await goBuild(place, { source: 'programs', target: `./${program}`, output });
  return output;
}
