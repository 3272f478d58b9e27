/**
 * ORMs as their users give them to Holdfast. The project does not depend on them: exact versions
 * are fetched from the npm registry once, beside its own, where they find `pg` and `mysql2`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fetchModules } from '../../scripts/package/tools.ts';
import { run } from '../../scripts/steps.ts';
import type { Client } from './clients.ts';

type Dialect = Client['dialect'];

export interface Orm extends Client {
  /** What a store takes of it; undefined if it shows no pool. */
  readonly pool: unknown;
}

const MIKRO = '6.6.16';
const VERSIONS = {
  ...{ knex: '3.3.0', typeorm: '0.3.31', sequelize: '6.37.8', prisma: '7.10.0' },
  ...{ '@prisma/client': '7.10.0', '@prisma/adapter-pg': '7.10.0' },
  '@prisma/adapter-mariadb': '7.10.0',
  // The last that runs on Node 20.
  ...{ '@mikro-orm/core': MIKRO, '@mikro-orm/postgresql': MIKRO },
  ...{ '@mikro-orm/mysql': MIKRO, '@mikro-orm/mariadb': MIKRO },
};

/** Their types are not here. */
export type Fetched = NodeJS.Require;

/** @throws StepError with the reason why they are not to be had. */
export async function fetchOrms(): Promise<Fetched> {
  const folder = await fetchModules('orms', VERSIONS, '--legacy-peer-deps');
  for (const database of ['postgresql', 'mysql']) await generatePrisma(folder, database);
  return createRequire(join(folder, 'package.json'));
}

async function generatePrisma(folder: string, database: string): Promise<void> {
  const file = join(folder, `${database}.prisma`);
  mkdirSync(folder, { recursive: true });
  const schema = `generator client {
  provider = "prisma-client-js"
  output   = "./prisma-${database}"
}
datasource db {
  provider = "${database}"
}
model Stock {
  id String @id
}
`;
  writeFileSync(file, schema);
  const program = join(folder, 'node_modules/prisma/build/index.js');
  // It would download a program that migrations need.
  const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  await run(['node', program, 'generate', '--schema', file], { cwd: folder, env });
}

type Open = (fetched: Fetched, dialect: Dialect, url: string) => Promise<Orm>;

/** On MySQL it takes `mysql2` or, with callbacks, `mariadb`. */
const mikroOrm =
  (client: 'mysql' | 'mariadb'): Open =>
  async (fetched, dialect, url) => {
    const { MikroORM } = fetched(`@mikro-orm/${dialect === 'postgres' ? 'postgresql' : client}`);
    const { EntitySchema } = fetched('@mikro-orm/core');
    const properties = { id: { type: 'string', primary: true } };
    const Stock = new EntitySchema({ name: 'Stock', tableName: 'stock', properties });
    const orm = await MikroORM.init({ clientUrl: url, entities: [Stock], pool: { max: 10 } });
    return {
      ...{ dialect, db: orm.em.fork(), pool: orm.em, close: () => orm.close() },
      transaction: (work, isolationLevel) => orm.em.fork().transactional(work, { isolationLevel }),
    };
  };

export const ORMS: Readonly<Record<string, Open>> = {
  Knex: async (fetched, dialect, url) => {
    const db = fetched('knex')({
      ...{ client: dialect === 'postgres' ? 'pg' : 'mysql2', connection: url },
      pool: { min: 0, max: 10 },
    });
    return {
      ...{ dialect, db, pool: db, close: () => db.destroy() },
      transaction: (work, isolationLevel) => db.transaction(work, { isolationLevel }),
    };
  },

  TypeORM: async (fetched, dialect, url) => {
    const { DataSource } = fetched('typeorm');
    const db = await new DataSource({ type: dialect, url, poolSize: 10 }).initialize();
    return {
      ...{ dialect, db: db.manager, pool: db, close: () => db.destroy() },
      transaction: (work, isolation) =>
        isolation ? db.transaction(isolation.toUpperCase(), work) : db.transaction(work),
    };
  },

  Sequelize: async (fetched, dialect, url) => {
    const { Sequelize } = fetched('sequelize');
    const db = new Sequelize(url, { dialect, logging: false, pool: { max: 10 } });
    return {
      ...{ dialect, db, pool: db, close: () => db.close() },
      transaction: (work, isolation = 'read committed') =>
        db.transaction({ isolationLevel: isolation.toUpperCase() }, work),
    };
  },

  MikroORM: mikroOrm('mysql'),
  'MikroORM on mariadb': mikroOrm('mariadb'),

  Prisma: async (fetched, dialect, url) => {
    const { PrismaClient } = fetched(
      `./prisma-${dialect === 'postgres' ? 'postgresql' : 'mysql'}/index.js`,
    );
    const { hostname: host, port, username: user, pathname } = new URL(url);
    const server = { host, port: Number(port), user, database: pathname.slice(1) };
    const { PrismaPg } = fetched('@prisma/adapter-pg');
    const { PrismaMariaDb } = fetched('@prisma/adapter-mariadb');
    const opened =
      dialect === 'postgres'
        ? new PrismaPg({ connectionString: url })
        : new PrismaMariaDb({ ...server, connectionLimit: 10 });
    const db = new PrismaClient({ adapter: opened });
    const patience = { timeout: 60_000, maxWait: 60_000 };
    return {
      ...{ dialect, db, pool: undefined, close: () => db.$disconnect() },
      transaction(work, isolation) {
        // `ReadCommitted`, and so on.
        const isolationLevel = isolation?.replace(/(?:^| )(\w)/g, (_, one) => one.toUpperCase());
        return db.$transaction(work, { ...patience, ...(isolation && { isolationLevel }) });
      },
    };
  },
};

/** One of them is on MariaDB alone. */
export function ormsOn(dialect: Dialect): [string, Open][] {
  const all = Object.entries(ORMS);
  return dialect === 'mysql' ? all : all.filter(([name]) => name !== 'MikroORM on mariadb');
}
