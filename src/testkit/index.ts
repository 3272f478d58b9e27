/** Experimental: the conformance suite for stores, and what else helps to test locks. */
export type { Case, Need, OptionalVerb, Topic } from './case.ts';
export { type ConformanceOptions, conformance } from './conformance.ts';
export { type SimulatedClock, simulatedClock } from './simulated-clock.ts';
export type { Fixture, FixtureOptions } from './test-bed.ts';
