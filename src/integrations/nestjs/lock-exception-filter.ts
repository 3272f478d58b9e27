import type { ServerResponse } from 'node:http';
import type { LockError } from '../../base/errors.ts';
import { refusalOf } from '../../operators/refusal.ts';

/** What responses of Express and replies of Fastify have in common. */
interface WebReply {
  readonly raw?: ServerResponse;
  status(code: number): this;
  header(name: string, value: string): this;
  send(body: object): unknown;
}

/** Where `@Catch()` keeps the classes of a filter, each of which NestJS asks by `instanceof`. */
const CATCHES = '__filterCatchExceptions__';
const REFUSED = { [Symbol.hasInstance]: (error: unknown) => refusalOf(error) !== undefined };

/**
 * Replies to requests of HTTP, on Express or Fastify, that a lock has refused, as `refusalOf` says:
 * `app.useGlobalFilters(new LockExceptionFilter())`. Other errors are left to NestJS.
 */
export class LockExceptionFilter {
  constructor() {
    // Not before: NestJS, which loads reflect-metadata, may be loaded after this file.
    const reflect = Reflect as { defineMetadata?(key: string, value: unknown, on: object): void };
    reflect.defineMetadata?.(CATCHES, [REFUSED], new.target);
  }

  /** @param host The `ArgumentsHost` of NestJS. */
  catch(error: unknown, host: { getType(): string; getArgByIndex(index: number): unknown }): void {
    const refusal = refusalOf(error);
    if (!refusal || host.getType() !== 'http') throw error;
    const { status, retryAfter } = refusal;
    // The message of the error names hosts.
    const { code } = error as LockError;
    const body = { statusCode: status, code, message: 'Busy: try again later.' };
    const reply = host.getArgByIndex(1) as WebReply & ServerResponse;
    const { raw = reply } = reply;
    if (raw.headersSent) raw.end();
    else reply.status(status).header('Retry-After', `${retryAfter}`).send(body);
  }
}
