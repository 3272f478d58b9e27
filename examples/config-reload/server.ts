/** A server that reads the configuration with each request; one of them also reloads it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast/connect';
import { hearOrders, leave, readPlan, tell } from '../shared/member.ts';
import type { Stage } from '../shared/stage.ts';
import { readConfig, writeConfig } from './config.ts';

export interface ServerPlan {
  readonly name: string;
  readonly stage: Stage;
  readonly versions: number;
}

export type ServerOrder = 'read' | 'reload' | 'lock' | 'stop';

export type ServerReport =
  | { readonly event: 'ready' | 'reloaded' }
  | { readonly event: 'read'; readonly routes: number; readonly limits: number };

const { name, stage, versions } = readPlan<ServerPlan>();
const locks = await connect(stage.store, { prefix: stage.prefix, label: name });
const lock = locks.rwLock('config');
const report = tell<ServerReport>;
let isLocked = false;

async function read(): Promise<void> {
  for (;;) {
    const look = () => readConfig(stage.folder);
    const config = isLocked ? await lock.read.run(look) : await look();
    await report({ event: 'read', ...config });
    if (config.limits === versions) return;
  }
}

async function reload(): Promise<void> {
  for (let version = 1; version <= versions; version++) {
    const write = () => writeConfig(stage.folder, version);
    // A writer that waits stops the readers that come later, so they cannot starve it.
    await (isLocked ? lock.write.run(write) : write());
    await sleep(20);
  }
  await report({ event: 'reloaded' });
}

hearOrders<ServerOrder>({
  read: () => void read(),
  reload: () => void reload(),
  lock: () => {
    isLocked = true;
  },
  stop: async () => {
    await locks.close();
    leave();
  },
});
await report({ event: 'ready' });
