/** A store that never says who holds; its process is sent SIGTERM as soon as it asks. */
import { sqliteStore } from 'holdfast/sqlite';
import { aroundStore } from 'holdfast/testkit';

// biome-ignore lint/style/noDefaultExport: the module of a store is its default export.
export default (file: string): ReturnType<typeof aroundStore> =>
  aroundStore(sqliteStore(file), ({ verb }, next) => {
    if (verb !== 'inspect') return next();
    // To wait for a signal keeps no process alive.
    setInterval(() => {}, 1_000);
    process.kill(process.pid, 'SIGTERM');
    return new Promise(() => {});
  });
