/**
 * Which test files have a change somewhere below them.
 *
 * A file sees what it names: each string in its code that is the path of a file of the project,
 * from its own folder or from the root, or one of the package's public names. So programs that are
 * started, scripts in Lua and SQL, and what is loaded when needed count like any import; what a
 * comment names as well, which costs a run more, and loses none. Of what only hands on the names of
 * other files, a file sees those that it imports. Tests also see what is in their room, or in the
 * room of `src` that has the same name.
 */
import { posix } from 'node:path';

/** The text of each file by its path from the root. */
export type Files = ReadonlyMap<string, string>;

const CODE = /\.(ts|tsx|mts|mjs)$/;
const TEST = /\.test\.ts$/;
const STRING = /['"`]([\w./-]{2,150})['"`]/g;
const IMPORT = /^(import|export)(?: type)? \{([^}]*)\} from '([^']+)';$/gm;

/** It names every store, of which a test opens its own. */
const OPENERS = 'src/stores/openers.ts';

export class Graph {
  readonly #files: Files;
  /** By a public name, the file. */
  readonly #names: ReadonlyMap<string, string>;
  /** Who sees a file. */
  readonly #seenBy = new Map<string, Set<string>>();

  constructor(files: Files, names: ReadonlyMap<string, string> = new Map()) {
    this.#files = files;
    this.#names = names;
    for (const path of files.keys()) {
      if (!CODE.test(path) || path === OPENERS) continue;
      for (const seen of this.#seenFrom(path)) {
        this.#seenBy.set(seen, (this.#seenBy.get(seen) ?? new Set()).add(path));
      }
    }
  }

  /** The files of tests that see this one, however far away. */
  testsAbove(path: string): string[] {
    const room = ['test', ...posix.dirname(path).split('/').slice(1, 3)].join('/');
    const above = new Set([path]);
    for (const each of above) for (const next of this.#seenBy.get(each) ?? []) above.add(next);
    const tests = [...this.#files.keys()].filter((each) => TEST.test(each));
    // What stands beside rooms is in none of them.
    const isRoom = room.split('/').length > 2;
    const inRoom = (folder: string): boolean =>
      folder === room || (isRoom && folder.startsWith(`${room}/`));
    return tests.filter((each) => above.has(each) || inRoom(posix.dirname(each)));
  }

  #seenFrom(path: string): string[] {
    const imported: string[] = [];
    const see = (_: string, __: string, names: string, from: string): string => {
      for (const seen of this.#resolve(path, from)) {
        for (const { name } of namesOf(names)) imported.push(this.#behind(seen, name));
      }
      return '';
    };
    const rest = (this.#files.get(path) ?? '').replace(IMPORT, see);
    const named = [...rest.matchAll(STRING)].flatMap(([, name = '']) => this.#resolve(path, name));
    return [...imported, ...named];
  }

  /** All of a folder, if that is named as one, but not of a room above. */
  #resolve(path: string, name: string): string[] {
    const places = [posix.join(posix.dirname(path), name), posix.normalize(name)];
    const found = [this.#names.get(name) ?? '', ...places].filter((each) => this.#files.has(each));
    if (found.length > 0 || !/^[a-z][^.]*\/$/.test(name)) return found;
    return [...this.#files.keys()].filter((each) => each.startsWith(places[0] ?? ''));
  }

  /** Where this name comes from that this file exports. */
  #behind(path: string, wanted: string): string {
    for (const [, kind, all = '', from = ''] of (this.#files.get(path) ?? '').matchAll(IMPORT)) {
      const found = namesOf(all).find(({ as }) => as === wanted);
      const [behind] = kind === 'export' && found ? this.#resolve(path, from) : [];
      if (found && behind !== undefined) return this.#behind(behind, found.name);
    }
    return path;
  }
}

/** Of `{ a, type b, c as d }`. */
function namesOf(list: string): { readonly name: string; readonly as: string }[] {
  const names = list.split(',').map((each) => each.trim().replace(/^type /, ''));
  return names.filter(Boolean).map((each) => {
    const [name = '', as = name] = each.split(' as ');
    return { name, as };
  });
}

export interface Touched {
  readonly tests: ReadonlySet<string>;
  /** Something has changed of which no test in particular can tell. */
  readonly general: boolean;
}

/** Which of these tests see what has changed; what more than half of them see is general. */
export function touchedBy(
  changed: readonly string[],
  tests: ReadonlySet<string>,
  graph: Graph,
): Touched {
  const touched = new Set<string>();
  let general = false;
  for (const path of changed) {
    const above = graph.testsAbove(path).filter((each) => tests.has(each));
    if (above.length > tests.size / 2) general = true;
    else for (const each of above) touched.add(each);
  }
  return { tests: touched, general };
}
