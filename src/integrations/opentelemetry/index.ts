export * from './api.ts';
export { type InstrumentOptions, instrument } from './instrument.ts';
