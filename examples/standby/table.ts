/** Who leads and who stands by, as a table for the terminal. */
import type { Member } from 'holdfast';
import type { Standings } from 'holdfast/election';
import * as screen from '../shared/screen.ts';

export function standingsTable(
  { leaders, standbys }: Standings,
  isKilled: (member: Member) => boolean,
): string[] {
  const row = (role: string, member: Member): string[] => {
    const { host, pid } = member.holder;
    const killed = isKilled(member) ? 'killed' : '';
    return [role, nameOf(member), host, String(pid), lastHeartbeat(member), killed];
  };
  const active = screen.paint('green', 'active');
  const standby = screen.paint('yellow', 'standby');
  return screen.table(
    ['', 'worker', 'host', 'pid', 'last heartbeat', ''],
    [
      ...leaders.map((member) => row(active, member)),
      ...standbys.map((member) => row(standby, member)),
    ],
  );
}

export function nameOf({ holder }: Member): string {
  return holder.label ?? '';
}

/** `12:34:56, 0.3 s ago`. */
function lastHeartbeat({ ttlMs, leftMs }: Member): string {
  const agoMs = ttlMs - leftMs;
  const time = new Date(Date.now() - agoMs).toTimeString().slice(0, 8);
  return `${time}, ${(agoMs / 1000).toFixed(1)} s ago`;
}
