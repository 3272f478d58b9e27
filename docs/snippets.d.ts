/** What the code in the pages takes as given: the reader's own locks, data and work. */
declare const locks: import('holdfast').Locks;
declare const lease: import('holdfast').Lease;
declare const db: import('holdfast/fence').SqliteConnection;

/** All or nothing: BEGIN, the work, COMMIT; ROLLBACK and the error if it throws. */
declare function transaction<T>(connection: typeof db, work: () => T): T;

/** A database on a server, as its clients have it. */
declare const pool: import('pg').Pool;
declare const kysely: import('kysely').Kysely<{
  stock: { sku: string; n: number; reserved: number };
}>;
declare const drizzle: import('drizzle-orm/node-postgres').NodePgDatabase;
declare const sql: import('postgres').Sql;
declare const mysql: import('mysql2/promise').Pool;
/** As much of Prisma's client as the pages use. */
interface Prisma {
  $queryRawUnsafe(sql: string, ...values: unknown[]): Promise<unknown>;
  $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<number>;
}
declare const prisma: Prisma & { $transaction<T>(work: (tx: Prisma) => Promise<T>): Promise<T> };

/** A library that Holdfast does not know. */
interface AnyClient {
  query(
    sql: string,
    values: readonly unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number }>;
}

/** Clients of other servers, and objects that are written on a condition. */
declare const redis: import('ioredis').Redis;
declare const etcd: import('holdfast/etcd').EtcdClient;
declare const session: import('holdfast/zookeeper').ZookeeperSession;
declare const objects: import('holdfast/fence').ObjectAccess;
declare const hazelcast: import('hazelcast-client').HazelcastClient;
declare const documents: import('holdfast/document').Documents;

declare const sku: string;
declare function sell(connection: typeof db, sku: string): void;
declare function countStock(connection: typeof db, sku: string): number;

declare const order: { readonly id: string; readonly cents: number };
declare function charge(
  order: { readonly cents: number },
  options: { readonly signal?: AbortSignal; readonly idempotencyKey?: string },
): Promise<void>;

declare function ship(order: { readonly id: string }): Promise<void>;

/** A message queue, and a message that came out of it. */
declare const jobs: { add(job: { readonly id: string; readonly lease: string }): Promise<void> };
declare const job: { readonly id: string; readonly lease: string };

declare const request: { readonly signal: AbortSignal };
declare const from: string;
declare const to: string;
declare function transfer(from: string, to: string): Promise<void>;

declare function buildReport(signal: AbortSignal): Promise<void>;
declare function lead(signal: AbortSignal): Promise<void>;
declare function train(options: { readonly signal: AbortSignal }): Promise<void>;
declare function step(): Promise<boolean>;
declare function cleanUp(): Promise<void>;
declare function readConfig(): Promise<string>;
declare function writeConfig(text: string): Promise<void>;

/** Of the page on testing: test/methods/guide has them. */
declare function newClock(seed?: number): import('holdfast/testkit').SimulatedClock;
declare class SlowPost {
  constructor(clock: import('holdfast/testkit').SimulatedClock, ...invoices: string[]);
  readonly sent: string[];
}
declare function sendInvoices(locks: import('holdfast').Locks, post: SlowPost): Promise<boolean>;
interface Hold {
  readonly token: bigint;
  readonly grantedAt: number;
  readonly endedAt: number;
}
declare function record(locks: object, to: object): void;
declare function readToken(): Promise<string>;

/** For the suites of the testkit: a store and a fence of the reader's own. */
declare function myStore(
  options?: import('holdfast/testkit').FixtureOptions,
): import('holdfast').Store;
declare function numberBehindMyFence(resource: string): import('holdfast/testkit').FenceFixture;
declare module '*/etag-documents.ts' {
  export function etagDocuments(base: string): import('holdfast/document').Documents;
  export function etagStore(
    base: string,
    options?: import('holdfast/document').DocumentStoreOptions,
  ): import('holdfast').Store;
}

/** Of the pages on once and refresh. */
declare function nextNumber(): Promise<number>;
declare const message: { readonly id: string; ack(): Promise<void> };
declare function handle(of: typeof message): Promise<void>;
interface AccessToken {
  readonly text: string;
  readonly endsAt: number;
}
declare const cache: {
  get(key: string): Promise<AccessToken | undefined>;
  set(key: string, token: AccessToken): Promise<void>;
};
declare function fetchToken(): Promise<AccessToken>;
declare function loadToken(): Promise<AccessToken>;
/** The token if it has some life left, or so much. */
declare function fresh(
  token: AccessToken | undefined,
  options?: { readonly leftMs: number },
): AccessToken | undefined;

/** Of the page on web servers: test/methods/guide has them. */
type Ship = (id: string, signal: AbortSignal) => Promise<string>;
declare function whenGone(response: import('node:http').ServerResponse): AbortSignal;

/** As much of the AWS SDK as the page on fences uses. */
interface PutObject {
  readonly Bucket: string;
  readonly Key: string;
  readonly Body: string;
  readonly IfMatch?: string | undefined;
  readonly IfNoneMatch?: string | undefined;
}
declare class GetObjectCommand {
  constructor(input: { readonly Bucket: string; readonly Key: string });
  readonly gets: true;
}
declare class PutObjectCommand {
  constructor(input: PutObject);
  readonly puts: true;
}
declare const s3: {
  send(command: GetObjectCommand): Promise<{
    readonly Body: { transformToString(): Promise<string> };
    readonly ETag: string;
  }>;
  send(command: PutObjectCommand): Promise<{ readonly ETag: string }>;
};

/** Of the page on functions: what they do, and Next.js. */
declare function render(id: string): Promise<string>;
declare function send(pdf: string, order: { readonly token: bigint }): Promise<void>;
declare module 'next/server' {
  /** Runs the work when the response is on its way. */
  export function after(work: () => Promise<void>): void;
}

/** Of the page on Workers, as much of Cloudflare's runtime as it uses: scripts/package has it. */
interface D1Database {
  prepare(sql: string): {
    bind(...values: readonly unknown[]): { first<T>(): Promise<T | null> };
  };
}
interface DurableObjectNamespace<T> {
  idFromName(name: string): object;
  get(id: object): RemoteObject<T>;
}
type RemoteObject<T> = {
  readonly [K in keyof T]: T[K] extends (...given: infer G) => infer R
    ? (...given: G) => Promise<R>
    : never;
};
declare module 'cloudflare:workers' {
  export class DurableObject {
    protected readonly ctx: {
      readonly storage: {
        readonly kv: { get<T>(key: string): T | undefined; put<T>(key: string, value: T): void };
      };
    };
  }
}
declare module '*/d1-documents.ts' {
  export function d1Documents(db: D1Database): import('holdfast/document').Documents;
}

/** Of the page on NestJS: test/integrations/nestjs has them. */
declare class Warehouse {
  send(id: string, signal?: AbortSignal): Promise<string>;
}
declare class Orders {}
declare class OrdersController {}
declare class HealthController {}
declare class Config {
  readonly url: string;
}
declare class ConfigModule {}
declare class AppModule {}
