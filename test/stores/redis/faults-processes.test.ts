import { describe } from 'vitest';
import { processFaults } from '../../methods/faults/processes.ts';
import { bookingFaults } from '../../methods/faults/several-locks.ts';
import { Bed } from './bed.ts';

describe('a process that holds', () => processFaults(() => new Bed()));

describe('processes that take several locks', () => bookingFaults(() => new Bed()));
