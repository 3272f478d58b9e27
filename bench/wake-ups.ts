/**
 * Counts how often the file system wakes this process: every event of every `fs.watch` that begins
 * after this module was imported.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

let events = 0;
const watch = fs.watch;

fs.watch = ((...args: Parameters<typeof watch>) => {
  const watcher = watch(...args);
  watcher.on('change', () => events++);
  return watcher;
}) as typeof watch;
syncBuiltinESMExports();

export function wakeUps(): number {
  return events;
}
