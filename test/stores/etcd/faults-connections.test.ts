/** The network between a process and the server is gone, halfway gone, or slow. */
import { afterAll, describe } from 'vitest';
import { holdersFaults, lateness } from '../../methods/faults/connections.ts';
import { recordFaults } from '../../methods/faults/records.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startEtcd();
afterAll(() => server.close());

const newBed = (): Bed => new Bed(server);

holdersFaults(newBed, { etcd: {} });

describe('what comes late', () => lateness(newBed));

describe('records', () => recordFaults(newBed));
