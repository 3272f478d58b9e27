/** The network between a process and the server is gone, halfway gone, or slow. */
import { describe } from 'vitest';
import { holdersFaults, lateness } from '../../methods/faults/connections.ts';
import { recordFaults } from '../../methods/faults/records.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

const newBed = (): Bed => new Bed(server);

holdersFaults(newBed, { etcd: {} });

describe('what comes late', () => lateness(newBed));

describe('records', () => recordFaults(newBed));
