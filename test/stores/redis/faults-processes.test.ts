import { describe } from 'vitest';
import { processFaults } from '../../methods/faults/processes.ts';
import { Bed } from './bed.ts';

describe('a process that holds', () => processFaults(() => new Bed()));
