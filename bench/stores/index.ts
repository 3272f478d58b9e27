/** The stores by the schemes of their URLs. Only what a process needs is loaded. */
import type { Subject, Watched } from '../measuring/subject.ts';

const SUBJECTS: Readonly<Record<string, () => Promise<Subject>>> = {
  sqlite: async () => (await import('./sqlite.ts')).sqlite,
  redis: async () => (await import('./redis.ts')).redis,
  postgres: async () => (await import('./postgres.ts')).postgres,
  mysql: async () => (await import('./mysql.ts')).mysql,
  etcd: async () => (await import('./etcd.ts')).etcd,
  zookeeper: async () => (await import('./zookeeper.ts')).zookeeper,
  hazelcast: async () => (await import('./hazelcast.ts')).hazelcast,
};

export function schemeOf(url: string): string {
  return /^[^:]*/.exec(url)?.[0] ?? '';
}

export async function subjectAt(url: string): Promise<Subject> {
  const subject = await SUBJECTS[schemeOf(url)]?.();
  if (!subject) throw new Error(`There is no store for ${schemeOf(url)}:.`);
  return subject;
}

/** Also those whose free and contended locks no table has. */
export async function watchedAt(url: string): Promise<Watched> {
  const { DOCUMENTS } = await import('./documents.ts');
  return DOCUMENTS[schemeOf(url)] ?? subjectAt(url);
}
