/** A store on a file, whose process is sent SIGTERM when `once` has been granted the lock. */
import { sqliteStore } from 'holdfast/sqlite';
import { aroundStore } from 'holdfast/testkit';

let recalls = 0;

// biome-ignore lint/style/noDefaultExport: the module of a store is its default export.
export default (file: string): ReturnType<typeof aroundStore> =>
  aroundStore(sqliteStore(file), async ({ verb }, next) => {
    // It looks for the record before it asks for the lock, and again under it.
    if (verb === 'recall' && ++recalls === 2) {
      const heard = new Promise((resolve) => process.once('SIGTERM', resolve));
      // To wait for a signal keeps no process alive.
      const alive = setInterval(() => {}, 1_000);
      process.kill(process.pid, 'SIGTERM');
      await heard;
      clearInterval(alive);
    }
    return next();
  });
