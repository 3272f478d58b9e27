/**
 * `npm run docs`: the pages, and the docstrings of every entry, as one site with a search, in
 * `site/html`. It fails at any warning of TypeDoc, such as a public type that is not exported, at a
 * link that leads nowhere, and if the search does not find what it has to.
 *
 * With `-- --serve` it then serves the site; with `-- --pictures` it takes pictures of it, in
 * `site/pictures`, and fails if one is too wide for a phone or too faint to read.
 */
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { readTree } from '../test/methods/tidy/tree.ts';
import { MODULES } from '../tsdown.config.ts';
import { deadLinks } from './docs/dead-links.ts';
import { menuOf } from './docs/menu.ts';
import { sitePages } from './docs/pages.ts';
import { takePictures } from './docs/pictures.ts';
import { writeReference } from './docs/reference.ts';
import { unfound } from './docs/search.ts';
import { fetchModules } from './package/tools.ts';
import { ROOT, run } from './steps.ts';

/** Only the site needs them. The plugin finds the TypeDoc of the project. */
const VERSIONS = {
  'typedoc-plugin-markdown': '4.14.1',
  vitepress: '1.6.4',
};

const SITE = join(ROOT, 'site');
const HTML = join(SITE, 'html');

/** What VitePress looks for, and where it is. */
const THEIRS = {
  config: "export { CONFIG as default } from '../../scripts/docs/config.ts';\n",
  theme: "export { default } from 'vitepress/theme';\nimport '../../../scripts/docs/site.css';\n",
};

async function main(): Promise<string[]> {
  const options = { serve: { type: 'boolean' }, pictures: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options });
  process.chdir(ROOT);
  const folder = await fetchModules('site', VERSIONS, '--legacy-peer-deps');
  const modules = join(folder, 'node_modules');
  writeSources(modules);
  const good = await writeReference(join(SITE, 'pages/api'), modules);
  if (!good) return ['the reference is not as it should be'];
  const vitepress = join(modules, 'vitepress/bin/vitepress.js');
  console.log(await run([process.execPath, vitepress, 'build', SITE], { cwd: SITE }));
  const problems = [...deadLinks(HTML), ...(await unfound(HTML, modules))];
  if (values.serve || values.pictures) {
    const { url, close } = await serve(modules);
    console.log(url);
    if (!values.pictures) return problems;
    problems.push(...(await takePictures(url, join(SITE, 'pictures')).finally(close)));
  }
  return problems;
}

/** What VitePress builds the site from, save for the reference. */
function writeSources(modules: string): void {
  rmSync(SITE, { recursive: true, force: true });
  const tree = readTree();
  const write = (path: string, text: string): void => {
    const file = join(SITE, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  for (const [path, text] of sitePages(tree)) write(`pages/${path}`, text);
  cpSync(join(ROOT, 'docs/images'), join(SITE, 'pages/images'), { recursive: true });
  write('package.json', '{ "private": true, "type": "module" }\n');
  write('.vitepress/menu.json', JSON.stringify(menuOf(tree, [...MODULES.keys()])));
  write('.vitepress/config.mjs', THEIRS.config);
  write('.vitepress/theme/index.js', THEIRS.theme);
  symlinkSync(modules, join(SITE, 'node_modules'), 'junction');
}

/** As much of Vite as is used. */
interface Vite {
  preview(options: object): Promise<{
    readonly resolvedUrls: { readonly local: readonly string[] } | null;
    close(): Promise<void>;
  }>;
}

interface Served {
  readonly url: string;
  close(): Promise<void>;
}

async function serve(modules: string): Promise<Served> {
  const { href } = pathToFileURL(join(modules, 'vite/dist/node/index.js'));
  const { preview } = (await import(href)) as Vite;
  const build = { outDir: HTML };
  const server = await preview({ configFile: false, root: SITE, build, appType: 'mpa' });
  return { url: server.resolvedUrls?.local[0] ?? '', close: () => server.close() };
}

const problems = await main();
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log('npm run docs -- --serve shows the site');
