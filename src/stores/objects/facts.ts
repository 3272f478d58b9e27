/** Whether a service of objects compares before it writes, and its clock. It shows no version. */
import { hostname } from 'node:os';
import { isLockError } from '../../base/errors.ts';
import { clockByDate, reasonOf, type ServerFacts } from '../../clients/facts/server-facts.ts';
import type { ObjectAccess } from '../../clients/objects/access.ts';
import { probeObjects } from '../../clients/objects/probe.ts';
import { objectDocuments } from './documents.ts';

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
      if (!isLockError(error, 'UNSUPPORTED')) return [UNTRIED + reasonOf(error)];
      if (tries === PROBES) return [error.message];
    }
  }
}

const UNTRIED = 'it is not known whether the service honours conditional writes: ';
