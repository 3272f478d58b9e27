import type { Connect } from '../contender.ts';
import { bareIoredis, bareNodeRedis, queueAndMessage } from './floors.ts';
import { holdfast, holdfastCluster, holdfastNodeRedis } from './holdfast.ts';
import { redisSemaphore, redlock, universal, universalNodeRedis, verrou } from './rivals.ts';

export interface Contender {
  readonly connect: Connect;
  /** It tries with a plain SET, which none of its scripts call; all else it sends are scripts. */
  readonly sets?: boolean;
}

/** By the names that the tables show; workers get them as text. */
const CONTENDERS: Readonly<Record<string, Contender>> = {
  'floor: SET NX PX + compare-and-delete, ioredis': { connect: bareIoredis, sets: true },
  'floor: SET NX PX + compare-and-delete, node-redis': {
    connect: (url) => bareNodeRedis(url, true),
    sets: true,
  },
  'the same without commandTimeout': { connect: (url) => bareNodeRedis(url, false), sets: true },
  'floor: queue and message': { connect: queueAndMessage },
  holdfast: { connect: (url) => holdfast(url, false) },
  'holdfast, fair': { connect: (url) => holdfast(url, true) },
  'holdfast, fair, in a cluster': { connect: holdfastCluster },
  'holdfast, node-redis': { connect: holdfastNodeRedis },
  redlock: { connect: (url) => redlock(url, false) },
  'redlock, tuned': { connect: (url) => redlock(url, true) },
  'redis-semaphore': { connect: (url) => redisSemaphore(url, false), sets: true },
  'redis-semaphore, tuned': { connect: (url) => redisSemaphore(url, true), sets: true },
  '@verrou/core': { connect: (url) => verrou(url, false), sets: true },
  '@verrou/core, tuned': { connect: (url) => verrou(url, true), sets: true },
  'redlock-universal': { connect: (url) => universal(url, false), sets: true },
  'redlock-universal, tuned': { connect: (url) => universal(url, true), sets: true },
  'redlock-universal, node-redis': { connect: universalNodeRedis, sets: true },
};

export function contender(name: string): Contender {
  const found = CONTENDERS[name];
  if (!found) throw new Error(`There is no contender ${name}.`);
  return found;
}
