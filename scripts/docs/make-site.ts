/** TypeDoc makes the site: the pages as its documents, each entry of the package as a module. */
import { readFileSync } from 'node:fs';
import {
  Application,
  Converter,
  type DocumentReflection,
  KindRouter,
  OptionDefaults,
  type ProjectReflection,
  type RouterTarget,
  type TypeDocOptions,
} from 'typedoc';
import bundler from '../../tsdown.config.ts';
import { UNEXPORTED } from './unexported.ts';

const ENTRIES = Object.entries(bundler.entry as Readonly<Record<string, string>>);

const INDEX = 'docs/README.md';
/** In the order of the index, which has all of them (test/methods/tidy). */
const PAGES = [...readFileSync(INDEX, 'utf8').matchAll(/\]\(([\w/-]+\.md)\)/g)].map(
  ([, page]) => `docs/${page}`,
);
const OTHERS = [
  ...['bench/README.md', 'examples/README.md'],
  ...['CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
];

const OPTIONS: TypeDocOptions = {
  name: 'Holdfast',
  includeVersion: true,
  readme: 'README.md',
  customCss: 'scripts/docs/site.css',
  entryPoints: ENTRIES.map(([, source]) => source),
  projectDocuments: [INDEX, ...new Set(PAGES), ...OTHERS, 'docs/design/*.md'],
  groupOrder: ['Guide', 'Stores', 'Reference', 'Modules', 'Project', 'Decisions', '*'],
  intentionallyNotExported: UNEXPORTED,
  highlightLanguages: [
    ...OptionDefaults.highlightLanguages,
    ...['diff', 'go', 'hcl', 'java', 'sql'],
  ],
  navigation: { includeGroups: true },
  // `npm test` compiles all of it.
  skipErrorChecking: true,
  excludeInternal: true,
  excludeExternals: true,
  // No address of the sources is known.
  disableSources: true,
  treatWarningsAsErrors: true,
  cleanOutputDir: true,
  markdownItLoader: ({ core }: MarkdownParser) => core.ruler.push('plain-headings', plainHeadings),
  router: 'pages',
};

/** Whether it is as it should be; what is not has been printed. */
export async function makeSite(folder: string): Promise<boolean> {
  const app = await Application.bootstrap({ ...OPTIONS, out: folder });
  app.renderer.defineRouter('pages', PageRouter);
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => entitle(document));
  // Before they are put in order.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => nameEntries(project));
  const project = await app.convert();
  if (!project) return false;
  app.validate(project);
  await app.generateOutputs(project);
  return !app.logger.hasErrors() && !app.logger.hasWarnings();
}

const GROUPS: readonly (readonly [folder: string, group: string])[] = [
  ['docs/guide/', 'Guide'],
  ['docs/stores/', 'Stores'],
  ['docs/reference/', 'Reference'],
  ['docs/design/', 'Decisions'],
  ['', 'Project'],
];

/** Where each page is in the site: as in the sources. */
const places = new WeakMap<RouterTarget, string>();

class PageRouter extends KindRouter {
  protected override getIdealBaseName(target: Parameters<KindRouter['getIdealBaseName']>[0]) {
    return places.get(target) ?? super.getIdealBaseName(target);
  }
}

/** Named by its heading, in the group of its folder. */
function entitle(document: DocumentReflection): void {
  places.set(document, document.name.replace(/^docs\//, ''));
  const [, group] = GROUPS.find(([folder]) => document.name.startsWith(folder)) ?? [];
  const [, heading] = /^# (.+)$/m.exec(document.content[0]?.text ?? '') ?? [];
  document.frontmatter.group = group;
  document.name = (heading ?? document.name).replaceAll('`', '');
}

/** As programs import them. */
function nameEntries(project: ProjectReflection): void {
  const names = new Map(
    ENTRIES.map(([entry, source]) => [
      source.replace(/^src\//, '').replace(/(?:(?<=.)\/index)?\.ts$/, ''),
      entry === 'index' ? 'holdfast' : `holdfast/${entry}`,
    ]),
  );
  for (const module of project.children ?? []) module.name = names.get(module.name) ?? module.name;
}

/** As much of markdown-it as is used. */
interface MarkdownParser {
  readonly core: {
    readonly ruler: { push(name: string, rule: (state: { tokens: Token[] }) => void): void };
  };
}

interface Token {
  type: string;
  readonly children: Token[] | null;
}

/** TypeDoc makes no anchor of what is code in a heading; links to `## \`USAGE\`` need it. */
function plainHeadings({ tokens }: { readonly tokens: readonly Token[] }): void {
  tokens.forEach(({ type }, at) => {
    if (type !== 'heading_open') return;
    for (const part of tokens[at + 1]?.children ?? []) {
      if (part.type === 'code_inline') part.type = 'text';
    }
  });
}
