/**
 * What goes on for whoever comes runs outside of the asynchronous context of whoever came first.
 * A heartbeat that inherited the context of a request would keep all that the request knows, for as
 * long as it goes on, and what a traced client sends for it would be found in that request's trace.
 * The first request of an acquisition stays in the context of its caller, whose business it is.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs the work in the context in which this file was loaded: normally that of no request. */
export const inBackground: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
