/**
 * `HoldfastModule` makes one `Locks`, provides it for injection, and closes it at the end.
 *
 * Nothing of NestJS is imported, neither code nor types: a module is a class, a provider is a plain
 * object, and NestJS finds hooks by their names. So no package can be missing or installed twice.
 *
 * The locks close in `onApplicationShutdown`, the last of the hooks: by then the server has stopped
 * and has replied to requests in flight, under their locks. Providers that the module gets by
 * `imports` and `inject`, such as a pool, close after it, because NestJS ends in reverse order.
 */
import { type Duration, duration } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { checkOptions, flag } from '../../base/options.ts';
import { randomId } from '../../base/random-id.ts';
import { openStore } from '../../connect.ts';
import type { Store } from '../../contract/store.ts';
import { createLocks, Locks } from '../../locks.ts';
import { LOCKS, type LocksOptions } from '../../primitives/lock-options.ts';
import { LocksHealthIndicator } from './locks-health-indicator.ts';

/** The options of `createLocks`, and more. A factory may also return a store or a URL. */
export interface HoldfastModuleOptions extends LocksOptions {
  /** A store, or a URL for `openStore`. */
  readonly store: Store | string;
  /** How long running work may continue when the application shuts down; default 10 s. */
  readonly drain?: Duration;
}

export interface HoldfastModuleSettings {
  /** Distinguishes several `Locks` of one application: see `locksToken`. */
  readonly name?: string;
  /** Inject it everywhere, without importing the module again; default false. */
  readonly isGlobal?: boolean;
}

/** @typeParam D The arguments of the factory. */
export interface HoldfastModuleAsyncOptions<D extends readonly unknown[] = never[]>
  extends HoldfastModuleSettings {
  /** Modules that export what `inject` names. */
  readonly imports?: readonly object[];
  /** Tokens of the factory's arguments. */
  readonly inject?: readonly (object | string | symbol)[];
  readonly useFactory: (
    ...injected: D
  ) => Store | string | HoldfastModuleOptions | Promise<Store | string | HoldfastModuleOptions>;
}

/** An entry for the `imports` of a module: NestJS calls it a dynamic module. */
export interface NestModule {
  readonly module: new () => object;
  readonly global: boolean;
}

/** A provider of NestJS. */
interface Provider {
  readonly provide: unknown;
  readonly inject: readonly unknown[];
  readonly useFactory: (...injected: never[]) => unknown;
}

/**
 * The token of the `Locks` of a module with that name. Without a name it is the class `Locks`,
 * which needs no `@Inject`.
 *
 * @example
 * import { locksToken } from 'holdfast/nestjs';
 *
 * const token = locksToken('audit'); // \@Inject(token) private readonly locks: Locks
 */
export function locksToken(name?: string): string | typeof Locks {
  return name === undefined ? Locks : `holdfast:locks:${name}`;
}

/**
 * Provides `Locks` and, unless it has a name, `LocksHealthIndicator`; closes the locks, with a
 * `drain`, when the application shuts down.
 * @example
 * import { HoldfastModule } from 'holdfast/nestjs';
 *
 * const imports = [HoldfastModule.forRoot('redis://localhost')]; // of a \@Module
 */
// biome-ignore lint/complexity/noStaticOnlyClass: NestJS makes an instance of each module's class.
export class HoldfastModule {
  /**
   * @param given A store, a URL for `openStore`, or options with either as their `store`.
   * @throws UsageError if the options are wrong; the application does not start if the store or the
   *   URL is wrong.
   */
  static forRoot(
    given: Store | string | (HoldfastModuleOptions & HoldfastModuleSettings),
  ): NestModule {
    const all = checkOptions(withStore(given), { ...OPTIONS, ...SETTINGS }, 'HoldfastModule');
    const { name: _, isGlobal: __, ...options } = all;
    return moduleOf(all, { inject: [], useFactory: () => options });
  }

  /**
   * As `forRoot`, with a factory whose arguments NestJS injects.
   * @throws UsageError if there is no factory; the application does not start if the factory
   *   returns something wrong.
   */
  static forRootAsync<D extends readonly unknown[]>(
    given: HoldfastModuleAsyncOptions<D>,
  ): NestModule {
    const untyped = given as unknown as HoldfastModuleAsyncOptions;
    const read = checkOptions(untyped, FACTORY, 'HoldfastModule.forRootAsync');
    const { inject, useFactory } = read;
    const make = async (...injected: never[]): Promise<HoldfastModuleOptions> => {
      const made = withStore(await useFactory(...injected));
      return checkOptions<HoldfastModuleOptions, typeof OPTIONS>(made, OPTIONS, 'HoldfastModule');
    };
    return moduleOf(read, { inject, useFactory: make });
  }
}

const SETTINGS = {
  name: (given: string | undefined, name: string): string | undefined => {
    if (given === undefined || (typeof given === 'string' && given !== '')) return given;
    throw new UsageError(`The ${name} of a HoldfastModule must be text that is not empty.`);
  },
  isGlobal: flag(),
};
const OPTIONS = {
  ...LOCKS,
  store: (given: Store | string): Store | string => {
    if (given !== undefined) return given;
    throw new UsageError('HoldfastModule needs a store or the URL of one.');
  },
  drain: duration(),
};
const FACTORY = {
  ...SETTINGS,
  imports: (given: HoldfastModuleAsyncOptions['imports'] = []) => given,
  inject: (given: HoldfastModuleAsyncOptions['inject'] = []) => given,
  useFactory: (given: HoldfastModuleAsyncOptions['useFactory']) => {
    if (typeof given === 'function') return given;
    throw new UsageError('forRootAsync needs a useFactory, which returns the store.');
  },
};

function withStore<T extends object>(given: Store | string | T): T | { store: Store | string } {
  const bare = typeof given === 'string' || typeof (given as Store)?.claim === 'function';
  return bare ? { store: given as Store | string } : (given as T);
}

function moduleOf(
  { name, isGlobal = false, imports = [] }: Omit<HoldfastModuleAsyncOptions, 'useFactory'>,
  options: Pick<Provider, 'inject' | 'useFactory'>,
): NestModule {
  const token = locksToken(name);
  // NestJS may compare modules by their text, which lacks what a function returns.
  const optionsToken = `holdfast:options:${randomId()}`;
  const providers: Provider[] = [
    { provide: optionsToken, ...options },
    { provide: token, inject: [optionsToken], useFactory: makeLocks },
    // NestJS calls the hooks of each object that a factory returns.
    {
      provide: 'holdfast:shutdown',
      inject: [token, optionsToken],
      useFactory: (locks: Locks, { drain }: HoldfastModuleOptions) => ({
        onApplicationShutdown: () => locks.close(drain === undefined ? {} : { drain }),
      }),
    },
  ];
  if (name === undefined) {
    const make = (locks: Locks): LocksHealthIndicator => new LocksHealthIndicator(locks);
    providers.push({ provide: LocksHealthIndicator, inject: [token], useFactory: make });
  }
  const provided = name === undefined ? [token, LocksHealthIndicator] : [token];
  const made = { module: HoldfastModule, global: isGlobal, imports, providers, exports: provided };
  return made;
}

async function makeLocks({ store, drain: _, ...options }: HoldfastModuleOptions): Promise<Locks> {
  return createLocks(typeof store === 'string' ? await openStore(store) : store, options);
}
