import type { UserConfig } from 'tsdown';
import ts from 'typescript';
import { textFile } from './scripts/text-files.mjs';

const { paths } = ts.readConfigFile('tsconfig.json', ts.sys.readFile).config.compilerOptions as {
  readonly paths: Readonly<Record<string, readonly [string]>>;
};

/** The source of each public name, by which programs, tests and examples import it. */
export const MODULES: ReadonlyMap<string, string> = new Map(
  Object.entries(paths).map(([name, [source]]) => [name, source.replace('./', '')]),
);

const entry: Readonly<Record<string, string>> = Object.fromEntries(
  [...MODULES].map(([name, source]) => [
    name === 'holdfast' ? 'index' : name.replace('holdfast/', ''),
    source,
  ]),
);

/** The result is code, whatever the name of the file says. */
function load(file: string): { readonly code: string; readonly moduleType: 'js' } | undefined {
  const code = textFile(file);
  return code === undefined ? undefined : { code, moduleType: 'js' };
}

const config: UserConfig = {
  // One build of all entries, so that what they share (the error classes) is in shared chunks.
  entry,
  // Programs are no exports, and run as ESM only.
  format: { esm: { entry: { ...entry, cli: 'src/cli/main.ts' } }, cjs: {} },
  dts: true,
  platform: 'node',
  target: 'node20.19',
  plugins: [{ name: 'files-as-text', load }],
  // Jest cannot import from CommonJS; clients are required there.
  outputOptions: { dynamicImportInCjs: false },
  checks: { legacyCjs: false },
};

export default config;
