import { Lock } from './lock.ts';

/** One holder at a time. Made by `locks.mutex`. */
export class Mutex extends Lock {}
