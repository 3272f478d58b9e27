/** Experimental: the conformance suite for stores, and other means to test locks. */
export type { OptionalVerb } from '../contract/store.ts';
export { type Around, aroundStore, type Verb } from './around-store.ts';
export type { Declared } from './case.ts';
export {
  answered,
  type ChaosOptions,
  type ChaosStore,
  chaosStore,
  type Mishap,
  type Range,
  type Weather,
} from './chaos-store.ts';
export { type ConformanceOptions, conformance } from './conformance.ts';
export { type Count, type CountingStore, countingStore } from './counting-store.ts';
export { type DocumentsSuiteOptions, documentsSuite } from './documents/suite.ts';
export { type Fault, type FaultyStore, faultyStore } from './faulty-store.ts';
export {
  type FenceConformanceOptions,
  type FencedNumber,
  type FenceFixture,
  fenceConformance,
} from './fence-conformance.ts';
export type { Journey } from './journey.ts';
export { type SimulatedClock, simulatedClock } from './simulated-clock.ts';
export type { Fixture, FixtureOptions } from './test-bed.ts';
