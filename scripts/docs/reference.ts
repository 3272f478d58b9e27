/** TypeDoc writes the reference: a page of Markdown for each entry of the package. */
import { join } from 'node:path';
import { Application, Converter, type ProjectReflection, type TypeDocOptions } from 'typedoc';
import { MODULES } from '../../tsdown.config.ts';

/**
 * Types that the public ones are made of, and that no program has to name: what a client of the
 * user's looks like from here, requests of the clients of etcd and ZooKeeper, and parts of JSON.
 * The site shows their names only. A type that is missing here is an error, and so is one too many.
 */
const UNEXPORTED = [
  ...['IoredisClient', 'IoredisCluster', 'NodeRedisClient'],
  ...['NodeRedisCluster', 'NodeRedisSentinel'],
  ...['MariadbClient', 'Mysql2Client', 'OrmWithPool', 'PgClient', 'PgPoolClient', 'PostgresJs'],
  ...['Compare', 'EtcdClientOptions', 'EtcdReply', 'EtcdWatcher', 'Granted', 'Txn'],
  ...['Asking', 'SessionChange', 'SessionState', 'NodeWatcher', 'NodeWatches', 'Recipe'],
  ...['Created', 'NodeChildren', 'NodeData', 'Stat', 'ZookeeperRequest'],
  ...['Making', 'ProtectedTerms', 'VersionTerms', 'WatchTerms', 'Within'],
  ...['LongWait', 'OfAcquisition', 'OfLease', 'OfLock', 'TryOptions', 'RedissonMutex'],
  ...['ClaimJson', 'Entering', 'TakeoverJson', 'TombstoneJson', 'WholeState'],
  ...['Answer', 'FenceDialect', 'Fitting', 'Maybe', 'Optional'],
];

const OPTIONS: TypeDocOptions = {
  name: 'API of Holdfast',
  includeVersion: true,
  readme: 'none',
  entryPoints: [...MODULES.values()],
  intentionallyNotExported: UNEXPORTED,
  router: 'module',
  // `npm test` compiles all of it.
  skipErrorChecking: true,
  excludeInternal: true,
  excludeExternals: true,
  // No address of the sources is known.
  disableSources: true,
  treatWarningsAsErrors: true,
};

/** Those of typedoc-plugin-markdown. */
const MARKDOWN = {
  entryFileName: 'index.md',
  ...{ hidePageHeader: true, hideBreadcrumbs: true, useCodeBlocks: true, sanitizeComments: true },
  // The site numbers equal headings of a page otherwise than the plugin does.
  ...{ useHTMLAnchors: true, anchorPrefix: 'api-' },
};

/** Whether it is as it should be; what is not has been printed. */
export async function writeReference(folder: string, modules: string): Promise<boolean> {
  const plugin = [join(modules, 'typedoc-plugin-markdown/dist/index.js')];
  const options = { ...OPTIONS, ...MARKDOWN, plugin, out: folder };
  const app = await Application.bootstrapWithPlugins(options);
  // Before they are put in order.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => nameEntries(project));
  const project = await app.convert();
  if (!project) return false;
  app.validate(project);
  await app.generateOutputs(project);
  return !app.logger.hasErrors() && !app.logger.hasWarnings();
}

function nameEntries(project: ProjectReflection): void {
  const names = new Map(
    [...MODULES].map(([name, source]) => [
      source.replace(/^src\//, '').replace(/(?:(?<=.)\/index)?\.ts$/, ''),
      name,
    ]),
  );
  for (const module of project.children ?? []) module.name = names.get(module.name) ?? module.name;
}
