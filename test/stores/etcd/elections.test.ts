/** Leaders and standbys. */
import { afterAll, describe } from 'vitest';
import { electedProcesses, elections } from '../../methods/faults/elections.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startEtcd();
afterAll(() => server.close());

const newBed = (): Bed => new Bed(server);

describe('candidates', () => elections(newBed));

describe('candidates that are processes', () => electedProcesses(newBed));
