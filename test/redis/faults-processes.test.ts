import { describe } from 'vitest';
import { processFaults } from '../faults/processes.ts';
import { Bed } from './bed.ts';

describe('a process that holds', () => processFaults(() => new Bed()));
