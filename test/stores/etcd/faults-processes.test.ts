import { describe } from 'vitest';
import { handOverFaults } from '../../methods/faults/hand-over.ts';
import { processFaults } from '../../methods/faults/processes.ts';
import { bookingFaults } from '../../methods/faults/several-locks.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

describe('a process that holds', () => processFaults(() => new Bed(server)));

describe('a lease that is handed over', () => handOverFaults(() => new Bed(server)));

describe('processes that take several locks', () => bookingFaults(() => new Bed(server)));
