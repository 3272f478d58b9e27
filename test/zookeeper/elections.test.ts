/** Leaders and standbys. */
import { afterAll, describe } from 'vitest';
import { electedProcesses, elections } from '../faults/elections.ts';
import { startZookeeper } from '../servers/zookeeper-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startZookeeper();
afterAll(() => server.close());

const newBed = (): Bed => new Bed(server);

describe('candidates', () => elections(newBed));

describe('candidates that are processes', () => electedProcesses(newBed));
