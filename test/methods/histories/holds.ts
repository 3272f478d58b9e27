/**
 * Holds that processes believed in, judged. A holder knows of a grant after the store gave it, and
 * stops to believe before the store ends it. So the release is called when the belief ended and
 * never returns: beliefs that overlap cannot be put in order, and beliefs in turn always can.
 */
import { checkLinearizability } from './linearizability.ts';
import { type LockOperation, lockModel } from './models.ts';

/** One hold, on a clock that all processes share. */
export interface HoldRecord {
  readonly resource: string;
  readonly permits: number;
  readonly limit: number;
  readonly token?: bigint | undefined;
  readonly process: number;
  /** Just before it was asked for. */
  readonly requestedAt: number;
  /** When its holder knew of the grant. */
  readonly grantedAt: number;
  /** When its holder last took it for held: just before the release, or when it found it lost. */
  readonly endedAt: number;
}

/** What no order of these holds explains, for people; empty if there is one. */
export function disorderOf(records: readonly HoldRecord[]): string[] {
  const history = records.flatMap(operationsOf);
  return checkLinearizability(lockModel, history).disorders.map(({ message }) => message);
}

function operationsOf(record: HoldRecord, index: number): LockOperation[] {
  const { resource, process, permits, limit, token: output = true } = record;
  const { requestedAt: calledAt, grantedAt: returnedAt, endedAt } = record;
  const holder = String(index);
  const input = { verb: 'acquire', holder, permits, limit } as const;
  return [
    { resource, process, calledAt, returnedAt, input, output },
    { resource, process, calledAt: endedAt, input: { verb: 'release', holder } },
  ];
}
