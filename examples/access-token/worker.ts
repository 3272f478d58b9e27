/** A process that needs a valid access token again and again. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast/connect';
import { refresh } from 'holdfast/refresh';
import { hearOrders, leave, readPlan, tell } from '../shared/member.ts';
import type { Stage } from '../shared/stage.ts';
import type { Token } from './endpoint.ts';

export interface WorkerPlan {
  readonly name: string;
  readonly stage: Stage;
  readonly endpoint: string;
  /** Where all processes find the token: a file here; it could be a row, or a key in Redis. */
  readonly file: string;
}

/** What is known of the token; before the first one it has run out already. */
export interface Known extends Pick<Token, 'access' | 'refresh'> {
  readonly until: number;
}

export type WorkerReport =
  | { readonly event: 'ready' | 'refused' }
  | { readonly event: 'used'; readonly access: string };

const { name, stage, endpoint, file } = readPlan<WorkerPlan>();
const locks = await connect(stage.store, { prefix: stage.prefix, label: name });
const report = tell<WorkerReport>;
let working = true;

/** The token that all share. Of all who find that it has run out, one gets the next. */
async function accessToken(): Promise<string> {
  return await refresh(locks, 'access-token', {
    read: () => {
      const known = read();
      return isFresh(known) ? known.access : undefined;
    },
    load: ({ signal }) => fetchToken(read(), signal),
  });
}

async function fetchToken(old: Known, signal?: AbortSignal): Promise<string> {
  const askedAt = Date.now();
  const options = { method: 'POST', body: old.refresh, ...(signal && { signal }) };
  const response = await fetch(endpoint, options);
  if (!response.ok) throw new Error('The endpoint refuses a refresh token that was used before.');
  const token = (await response.json()) as Token;
  // A process that reads meanwhile sees the old file or the new one, and never a part of it.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ ...token, until: askedAt + token.validMs }));
  renameSync(draft, file);
  return token.access;
}

function read(): Known {
  return JSON.parse(readFileSync(file, 'utf8')) as Known;
}

function isFresh({ until }: Known): boolean {
  return Date.now() < until;
}

hearOrders<'rush' | 'work' | 'stop'>({
  // What happens without the lock: everybody who finds the token stale asks for the next one.
  rush: async () => {
    await fetchToken(read()).then(
      (access) => report({ event: 'used', access }),
      () => report({ event: 'refused' }),
    );
  },
  work: async () => {
    while (working) {
      await report({ event: 'used', access: await accessToken() });
      await sleep(10 * Math.random());
    }
    await locks.close();
    leave();
  },
  stop: () => {
    working = false;
  },
});
await report({ event: 'ready' });
