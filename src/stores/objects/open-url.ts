/** The store that a URL of S3 names: `s3://bucket/prefix/?region=eu-west-1`. */
import { hostname } from 'node:os';
import { isLockError, UsageError } from '../../base/errors.ts';
import { notInstalled } from '../../clients/aws/send.ts';
import { clockByDate, reasonOf, type ServerFacts } from '../../clients/facts/server-facts.ts';
import type { ObjectAccess } from '../../clients/objects/access.ts';
import { probeObjects } from '../../clients/objects/probe.ts';
import { s3Objects } from '../../clients/objects/s3-objects.ts';
import type { Store } from '../../contract/store.ts';
import { awsSettings, closingAlso, splitQuery } from '../url-options.ts';
import { objectDocuments } from './documents.ts';
import { type DocumentStoreOptions, objectStore } from './index.ts';

/** @throws UsageError, and UnsupportedError if the SDK is not installed. */
export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const { client, objects, options } = await open(rest);
  return closingAlso(objectStore(objects, options), { end: () => client.destroy() });
}

export async function facts(_scheme: string, rest: string): Promise<ServerFacts> {
  const { client, bucket, objects } = await open(rest);
  return objectFacts(objects, bucket).finally(() => client.destroy());
}

async function open(rest: string) {
  const [, bucket, prefix = '', query = ''] =
    /^\/\/([^/?#@]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (bucket === undefined) {
    throw new UsageError("'s3:' needs a bucket, as in 's3://plans/locks/'.");
  }
  const { options, url } = splitQuery<DocumentStoreOptions>({ query }, ['maxWaiters']);
  const sdk = await import('@aws-sdk/client-s3').catch(notInstalled('@aws-sdk/client-s3'));
  const client = new sdk.S3Client(awsSettings(url));
  return { client, bucket, objects: s3Objects(client, { bucket, prefix }), options };
}

/** This many failed probes are a finding. */
const PROBES = 3;

/** Writes an object whose key is that of no lock, one for each machine. */
export async function objectFacts(objects: ObjectAccess, bucket: string): Promise<ServerFacts> {
  const hazards = await hazardsOf(objects);
  const documents = objectDocuments(objects);
  const clock = await clockByDate(() => documents.get('doctor')).catch(() => undefined);
  return { version: `the bucket ${bucket}, of a service that tells no version`, hazards, clock };
}

/** Another doctor of this machine may write the same object meanwhile: what comes again counts. */
async function hazardsOf(objects: ObjectAccess): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    try {
      await probeObjects(objects, `doctor/${hostname()}`);
      return [];
    } catch (error) {
      const untried = 'it is not known whether the service honours conditional writes';
      if (!isLockError(error, 'UNSUPPORTED')) return [`${untried}: ${reasonOf(error)}`];
      if (tries === PROBES) return [error.message];
    }
  }
}
