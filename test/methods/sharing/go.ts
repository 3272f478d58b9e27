/** The programs in Go out of programs/go. */
import { fileURLToPath } from 'node:url';
import { type GoPlace, type GoProgram, goProgram, missingGo } from '../../servers/go-build.ts';
import type { ForeignCommand } from './foreign-program.ts';

type Name = 'redis' | 'kubernetes';

/** The first call may build it, which takes a minute or two. Rejects without Go or a network. */
export async function goDriver(name: Name, ...args: readonly string[]): Promise<ForeignCommand> {
  return { command: [await built(name), ...args] };
}

/** Why tests with it have to be skipped, if they have to. */
export function missingDriver(name: Name): Promise<string | undefined> {
  return missingGo(driver(name));
}

/** @param place with what was compiled before; default: all is compiled. */
export function built(name: Name, place?: GoPlace): Promise<string> {
  return goProgram(driver(name), place);
}

function driver(name: Name): GoProgram {
  return {
    ...{ name, target: `./${name}` },
    folder: fileURLToPath(new URL('programs/go/', import.meta.url)),
    files: ['go.mod', 'go.sum', 'driver/driver.go', `${name}/main.go`],
  };
}
