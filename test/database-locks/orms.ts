/**
 * ORMs as their users give them to Holdfast. The project does not depend on them: exact versions
 * are fetched from the npm registry once, beside its own, where they find `pg` and `mysql2`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SqlTransaction } from 'holdfast/sql';
import { fetchModules } from '../../scripts/package/tools.ts';
import { run } from '../../scripts/steps.ts';

type Dialect = 'postgres' | 'mysql';

export interface Orm {
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T>;
  close(): Promise<unknown>;
}

const VERSIONS = {
  ...{ knex: '3.3.0', typeorm: '0.3.31', sequelize: '6.37.8', prisma: '7.10.0' },
  ...{ '@prisma/client': '7.10.0', '@prisma/adapter-pg': '7.10.0' },
  '@prisma/adapter-mariadb': '7.10.0',
};

// biome-ignore lint/suspicious/noExplicitAny: packages whose types are not here.
type Untyped = any;
type Fetched = (name: string) => Untyped;

/** @throws StepError with the reason why they are not to be had. */
export async function fetchOrms(): Promise<Fetched> {
  const folder = await fetchModules('orms', VERSIONS);
  for (const database of ['postgresql', 'mysql']) await generatePrisma(folder, database);
  const require = createRequire(join(folder, 'package.json'));
  return (name) => require(name);
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

export const ORMS: Readonly<Record<string, Open>> = {
  Knex: async (fetched, dialect, url) => {
    const db = fetched('knex')({
      ...{ client: dialect === 'postgres' ? 'pg' : 'mysql2', connection: url },
      pool: { min: 0, max: 10 },
    });
    const inside = (tx: Untyped): SqlTransaction => {
      const send = (sql: string, values: unknown[]) => tx.raw(sql.replace(/\$\d+/g, '?'), values);
      return {
        ...{ dialect, transaction: true },
        rows: async (sql, values) => {
          const answer = await send(sql, values);
          return dialect === 'postgres' ? answer.rows : answer[0];
        },
        count: async (sql, values) => {
          const answer = await send(sql, values);
          return dialect === 'postgres' ? (answer.rowCount ?? 0) : answer[0].affectedRows;
        },
      };
    };
    return {
      transaction: (work) => db.transaction((tx: Untyped) => work(inside(tx))),
      close: () => db.destroy(),
    };
  },

  TypeORM: async (fetched, dialect, url) => {
    const { DataSource } = fetched('typeorm');
    const db = await new DataSource({ type: dialect, url, poolSize: 10 }).initialize();
    const inside = (entities: Untyped): SqlTransaction => ({
      ...{ dialect, transaction: true },
      rows: (sql, values) => entities.query(sql, values),
      count: async (sql, values) => {
        const answer = await entities.query(sql, values);
        return dialect === 'postgres' ? answer[1] : answer.affectedRows;
      },
    });
    return {
      transaction: (work) => db.transaction((entities: Untyped) => work(inside(entities))),
      close: () => db.destroy(),
    };
  },

  Sequelize: async (fetched, dialect, url) => {
    const { Sequelize, QueryTypes } = fetched('sequelize');
    const db = new Sequelize(url, { dialect, logging: false, pool: { max: 10 } });
    const inside = (transaction: Untyped): SqlTransaction => {
      const given = (values: unknown[]) =>
        dialect === 'postgres' ? { bind: values } : { replacements: values };
      return {
        ...{ dialect, transaction: true },
        rows: (sql, values) =>
          db.query(sql, { ...given(values), transaction, type: QueryTypes.SELECT }),
        count: async (sql, values) => {
          const [first, second] = await db.query(sql, { ...given(values), transaction });
          // By the kind of statement: a SET tells nothing.
          return second?.rowCount ?? first?.affectedRows ?? second?.affectedRows ?? second ?? 0;
        },
      };
    };
    const isolationLevel = 'READ COMMITTED';
    return {
      transaction: (work) => db.transaction({ isolationLevel }, (tx: Untyped) => work(inside(tx))),
      close: () => db.close(),
    };
  },

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
    const inside = (tx: Untyped): SqlTransaction => ({
      ...{ dialect, transaction: true },
      rows: (sql, values) => tx.$queryRawUnsafe(sql, ...values),
      count: (sql, values) => tx.$executeRawUnsafe(sql, ...values),
    });
    const patience = { timeout: 60_000, maxWait: 60_000 };
    return {
      transaction: (work) => db.$transaction((tx: Untyped) => work(inside(tx)), patience),
      close: () => db.$disconnect(),
    };
  },
};
