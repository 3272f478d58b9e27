import { afterAll, describe } from 'vitest';
import { processFaults } from '../../methods/faults/processes.ts';
import { bookingFaults } from '../../methods/faults/several-locks.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startZookeeper();
afterAll(() => server.close());

describe('a process that holds', () => processFaults(() => new Bed(server)));

describe('processes that take several locks', () => bookingFaults(() => new Bed(server)));
