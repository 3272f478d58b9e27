/** The store that a URL of S3 names: `s3://bucket/prefix/?region=eu-west-1`. */
import { hostname } from 'node:os';
import { isLockError, UsageError } from '../../base/errors.ts';
import { awsSettings } from '../../clients/aws/from-query.ts';
import { clockOffset, type ServerFacts } from '../../clients/facts/server-facts.ts';
import { DATE_STEP_MS } from '../../clients/http/date.ts';
import type { ObjectAccess } from '../../clients/objects/access.ts';
import { probeObjects } from '../../clients/objects/probe.ts';
import { s3Client, s3Objects } from '../../clients/objects/s3-objects.ts';
import type { Store } from '../../contract/store.ts';
import { type DocumentStoreOptions, documentStore } from '../document/index.ts';
import { splitQuery } from '../url-options.ts';
import { objectDocuments } from './documents.ts';

const OPTIONS = ['maxWaiters'];

/** So many failed probes are a finding. */
const PROBES = 3;

/** @throws UsageError, and UnsupportedError if the SDK is not installed. */
export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const { client, objects, options } = await open(rest);
  const documents = objectDocuments(objects);
  return documentStore({ ...documents, close: async () => client.destroy() }, options);
}

/**
 * Whether the service compares before it writes, and its clock. It tells no version. Writes an
 * object whose key is that of no lock, one for each machine.
 */
export async function facts(_scheme: string, rest: string): Promise<ServerFacts> {
  const { client, bucket, objects } = await open(rest);
  try {
    const hazards = await hazardsOf(objects);
    const time = async (): Promise<number | undefined> =>
      (await objectDocuments(objects).get('doctor')).nowMs;
    const clock = await clockOffset(time, DATE_STEP_MS).catch(() => undefined);
    return { version: `the bucket ${bucket}, of a service that tells no version`, hazards, clock };
  } finally {
    client.destroy();
  }
}

/** Another doctor of this machine may write the same object meanwhile: what comes again counts. */
async function hazardsOf(objects: ObjectAccess): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    try {
      await probeObjects(objects, `doctor/${hostname()}`);
      return [];
    } catch (error) {
      if (!isLockError(error, 'UNSUPPORTED')) throw error;
      if (tries === PROBES) return [error.message];
    }
  }
}

async function open(rest: string) {
  const [, bucket, prefix = '', query = ''] =
    /^\/\/([^/?#@]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (bucket === undefined)
    throw new UsageError("'s3:' needs a bucket, as in 's3://plans/locks/'.");
  const { options, url } = splitQuery<DocumentStoreOptions>({ query }, OPTIONS);
  const client = await s3Client(awsSettings(url));
  return { client, bucket, objects: s3Objects(client, { bucket, prefix }), options };
}
