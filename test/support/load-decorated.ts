/**
 * Loads a file with decorators as TypeScript compiles it to CommonJS, which the tests' own compiler
 * does not: with those of the standard, or with those of its own and their metadata, as programs
 * that use NestJS are compiled. The library is the one of the tests.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import ts from 'typescript';

export type Decorators = 'standard' | 'legacy';

export function compileDecorated(file: URL, decorators: Decorators): string {
  const legacy = decorators === 'legacy';
  const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), {
    fileName: fileURLToPath(file),
    compilerOptions: {
      ...{ module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
      ...{ experimentalDecorators: legacy, emitDecoratorMetadata: legacy, esModuleInterop: true },
    },
  });
  return outputText;
}

interface LoadOptions {
  readonly decorators: Decorators;
  /** What the file gets for the names that begin with `holdfast`. */
  readonly library: object;
  /** Finds all other packages; default: as the file itself does. */
  readonly installed?: NodeJS.Require;
}

export function loadDecorated<T>(
  file: URL,
  { decorators, library, installed = createRequire(file) }: LoadOptions,
): T {
  const js = compileDecorated(file, decorators);
  const own = new Map(Object.entries(library));
  const load = (name: string): unknown => own.get(name) ?? installed(name);
  const exports = {};
  compileFunction(js, ['exports', 'require'], { filename: fileURLToPath(file) })(exports, load);
  return exports as T;
}
