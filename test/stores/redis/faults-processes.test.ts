import { describe } from 'vitest';
import { handOverFaults } from '../../methods/faults/hand-over.ts';
import { processFaults } from '../../methods/faults/processes.ts';
import { bookingFaults } from '../../methods/faults/several-locks.ts';
import { Bed } from './bed.ts';

describe('a process that holds', () => processFaults(() => new Bed()));

describe('a lease that is handed over', () => handOverFaults(() => new Bed()));

describe('processes that take several locks', () => bookingFaults(() => new Bed()));
