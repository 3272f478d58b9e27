/** Its own types are out of reach of Node's module resolution. */
declare module 'redlock' {
  import type { Redis } from 'ioredis';

  export interface Settings {
    readonly retryCount: number;
    readonly retryDelay: number;
    readonly retryJitter: number;
  }

  export interface Lock {
    extend(ms: number): Promise<Lock>;
    release(): Promise<unknown>;
  }

  // biome-ignore lint/style/noDefaultExport: This is how redlock is imported.
  export default class Redlock {
    constructor(clients: Iterable<Redis>, settings?: Partial<Settings>);
    acquire(resources: string[], ttlMs: number): Promise<Lock>;
  }
}
