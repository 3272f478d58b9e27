/** Claims until the file may not grow any more, and prints what the store said to that. */
import { sqliteStore } from '../../../../src/stores/sqlite/index.ts';
import { claimOf } from './claim-of.ts';

// Without a listener the signal would end the process before SQLite could report anything.
process.on('SIGXFSZ', () => {});

async function run(): Promise<void> {
  const store = sqliteStore(process.argv[2] ?? '');
  for (let i = 0; ; i++) {
    const error = await store.claim([claimOf(`${'x'.repeat(500)}${i}`)]).then(
      () => undefined,
      (caught) => caught,
    );
    if (!error) continue;
    const { code, retryable, outcome, message } = error;
    return void process.stdout.write(JSON.stringify({ code, retryable, outcome, message }));
  }
}

void run();
