/**
 * `holdfast/nestjs`: locks as a module of NestJS. It also exports `Locks`, the class that NestJS
 * injects.
 */
export { Locks } from '../../locks.ts';
export {
  HoldfastModule,
  type HoldfastModuleAsyncOptions,
  type HoldfastModuleOptions,
  type HoldfastModuleSettings,
  locksToken,
  type NestModule,
} from './holdfast-module.ts';
export { LockExceptionFilter } from './lock-exception-filter.ts';
export { LockedCron } from './locked-cron.ts';
export {
  type LocksHealth,
  LocksHealthIndicator,
  type LocksHealthOptions,
} from './locks-health-indicator.ts';
