import { hostname } from 'node:os';
import { REPLACEABLE } from '../contract/newest.ts';
import { CANDIDATE, type Holder } from '../contract/store.ts';
import type { AcquireOptions } from './acquire-options.ts';

/** Asked once. */
export const HOST: string = hostname();

/** Whose claim it is, for people, and its mark. */
export function holderOf(
  { label, standby, ifBusy }: AcquireOptions,
  defaultLabel: string | undefined,
): Holder {
  const who = { host: HOST, pid: process.pid, since: Date.now() };
  const shown = label ?? defaultLabel;
  const labelled = shown === undefined ? who : { ...who, label: shown };
  if (standby) return { ...labelled, mark: CANDIDATE };
  return ifBusy ? { ...labelled, mark: REPLACEABLE } : labelled;
}
