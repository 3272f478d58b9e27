/** The package advisory-lock, which has no options and opens a connection for each lock. */
import advisoryLock from 'advisory-lock';
import type { Connect } from '../measuring/subject.ts';

export const ADVISORY_LOCK = 'advisory-lock';

export const connectAdvisoryLock: Connect = (url) => {
  const mutexOf = advisoryLock.default(url);
  return {
    task: (resource) => () => mutexOf(`advisory:${resource}`).lock(),
    close: () => {},
  };
};
