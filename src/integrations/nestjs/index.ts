/**
 * `holdfast/nestjs`: locks as a module of NestJS. What it exports besides is `Locks`, the class
 * that is injected.
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
export {
  type LocksHealth,
  LocksHealthIndicator,
  type LocksHealthOptions,
} from './locks-health-indicator.ts';
