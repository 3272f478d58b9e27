import { LockError, quote } from '../../base/errors.ts';
import type { Holder } from '../../contract/store.ts';

/** Another process has just failed to refresh this; its log says why. */
export class RefreshError extends LockError {
  /** The process that failed, for people. */
  readonly by: Holder;
  /** No process tries again for this long. */
  readonly retryInMs: number;

  constructor(resource: string, seen: { readonly by: Holder; readonly retryInMs: number }) {
    const { host, pid } = seen.by;
    const who = `${host}, pid ${pid}, has just failed to`;
    const again = `the next try is in ${Math.ceil(seen.retryInMs)} ms`;
    super('REFRESH', `${who} refresh ${quote(resource)}: ${again}.`, { resource });
    this.by = seen.by;
    this.retryInMs = seen.retryInMs;
  }
}
