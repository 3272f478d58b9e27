/** Is sent ^C when it holds the lock, and has not yet started the command. */
import { createLocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { hold } from '../../../src/cli/process/hold.ts';
import { untilSignal } from '../../../src/cli/process/signals.ts';

untilSignal();
const lease = await createLocks(memoryStore()).mutex('a').acquire();
process.kill(process.pid, 'SIGINT');
const { signal } = await hold(lease, ['sleep', '30'], { graceMs: 1_000, asJson: false });
console.log(`ended by ${signal}`);
