/** What processes suffer that hold, hand over, or take several locks. */
import { describe } from 'vitest';
import type { Bed } from './bed.ts';
import { handOverFaults } from './hand-over.ts';
import { processFaults } from './processes.ts';
import { bookingFaults } from './several-locks.ts';

export function faultsOfProcesses(newBed: () => Bed): void {
  describe('a process that holds', () => processFaults(newBed));
  describe('a lease that is handed over', () => handOverFaults(newBed));
  describe('processes that take several locks', () => bookingFaults(newBed));
}
