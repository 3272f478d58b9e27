/**
 * What the examples use of packages that the project does not depend on. A test installs them, and
 * runs the examples with them: test/servers/frameworks.test.ts.
 */
declare module '@nestjs/schedule' {
  export const ScheduleModule: { forRoot(): import('@nestjs/common').DynamicModule };
  export function Cron(
    time: string,
    options?: { name?: string; timeZone?: string; waitForCompletion?: boolean },
  ): MethodDecorator;
}

declare module 'bullmq' {
  export interface ConnectionOptions {
    readonly host: string;
    readonly port: number;
  }
  export class Worker<T> {
    constructor(
      queue: string,
      work: (job: { readonly data: T }) => Promise<unknown>,
      options: { readonly connection: ConnectionOptions; readonly concurrency: number },
    );
    close(): Promise<void>;
  }
}

declare module 'node-cron' {
  export interface ScheduledTask {
    destroy(): unknown;
  }
  export function schedule(
    time: string,
    work: () => unknown,
    options: {
      readonly name: string;
      readonly timezone: string;
      readonly distributed: boolean;
      readonly runCoordinator: {
        shouldRun(key: string, ttlMs: number): boolean | Promise<boolean>;
        onComplete?(key: string): unknown;
      };
    },
  ): ScheduledTask;
}

declare module 'agenda' {
  export class Agenda {
    define(
      name: string,
      work: (job: { readonly attrs: { readonly data: unknown } }) => Promise<void>,
    ): void;
  }
}

declare module 'pg-boss' {
  export default class PgBoss {
    createQueue(name: string): Promise<void>;
    work<T>(
      name: string,
      options: { readonly pollingIntervalSeconds: number },
      work: (jobs: readonly { readonly data: T }[]) => Promise<void>,
    ): Promise<string>;
  }
}

declare module 'hono' {
  interface Context {
    readonly req: { readonly raw: Request; param(name: string): string };
    json(body: object, status?: number, headers?: Record<string, string>): Response;
  }
  export class Hono {
    post(path: string, work: (c: Context) => Promise<Response>): this;
    onError(reply: (error: Error, c: Context) => Response): this;
  }
}

declare module 'next/server' {
  export function after(work: () => Promise<unknown>): void;
}

declare module '@adonisjs/core/http' {
  interface HttpResponse {
    status(code: number): this;
    header(name: string, value: string): this;
    send(body: object): unknown;
  }
  export interface HttpContext {
    readonly params: Readonly<Record<string, unknown>>;
    readonly response: HttpResponse;
  }
  export class ExceptionHandler {
    handle(error: unknown, ctx: HttpContext): Promise<unknown>;
  }
}

declare module '@adonisjs/core/types' {
  type Token<T> = abstract new (...given: never[]) => T;
  export interface ApplicationService {
    readonly container: {
      singleton<T>(token: Token<T>, make: () => Promise<T>): void;
      make<T>(token: Token<T>): Promise<T>;
    };
  }
}
