/** ShedLock's table: rows stay, and the time until which each is locked says whether it is. */
import type { Claim } from '../../contract/store.ts';
import { fitting, type RowLayout } from '../rows/layout.ts';

const NAME_ROOM = 64;
/** `locked_by` has room for 255 characters; the rest is for the process and its claim. */
const MAX_HOST = 180;
const HOLDER_ROOM = MAX_HOST + ':4294967295:'.length + 32;
const OURS = /^(.*):(\d+):(?:[\da-f]{32}|released)$/;

export function shedlockLayout(table: string, nameOf: (name: string) => string): RowLayout {
  return {
    name: 'shedlock',
    table,
    key: ['name'],
    keyRoom: [NAME_ROOM],
    keyOf: (resource) => [fitting(nameOf(resource), NAME_ROOM, "ShedLock's column for names")],
    holder: 'locked_by',
    holderRoom: HOLDER_ROOM,
    writes: (claim) => `${processOf(claim)}:${claim.id}`,
    leavesBehind: (claim) => `${processOf(claim)}:released`,
    holderOf(holder) {
      const [, host = holder, pid = 0] = OURS.exec(holder) ?? [];
      return { host, pid: Number(pid) };
    },
    until: 'lock_until',
    addsMs: 0,
    since: 'locked_at',
    stays: true,
  };
}

/** In characters that every character set has, or what is written would not be what is read. */
function processOf({ holder: { host, pid } }: Claim): string {
  return `${host.replace(/[^\x21-\x7e]/g, '?').slice(0, MAX_HOST)}:${pid}`;
}
