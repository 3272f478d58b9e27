/** node-cron: of all instances that have the task, one runs it each time. */
import type { Locks } from 'holdfast';
import { runCoordinator } from 'holdfast/node-cron';
import { type ScheduledTask, schedule } from 'node-cron';
import { ship } from './ship.ts';

export function nightlyReport(locks: Locks, time = '0 3 * * *'): ScheduledTask {
  return schedule(time, () => ship('report'), {
    name: 'report',
    timezone: 'UTC',
    distributed: true,
    runCoordinator: runCoordinator(locks),
  });
}
