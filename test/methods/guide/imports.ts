/** What the blocks import: the sources, with an account of what has to be closed in the end. */
import * as http from 'node:http';
import * as holdfast from 'holdfast';
import { connect, openStore } from 'holdfast/connect';
import { instrument } from 'holdfast/opentelemetry';
import type { ConformanceOptions } from 'holdfast/testkit';
import type { Module } from './blocks.ts';

export interface Imports {
  /** Locks that the block made. */
  readonly opened: readonly holdfast.Locks[];
  readonly servers: readonly http.Server[];
  /** What undoes what was done to everybody. */
  readonly stops: (() => unknown)[];
  /** What it gave to its test runner. */
  readonly cases: readonly Case[];
  /** What it gets in place of what is installed. */
  readonly replaced: Record<string, Module>;
  load(name: string): Promise<Module>;
}

type Case = Parameters<ConformanceOptions['test']>[1];

export function newImports(): Imports {
  const opened: holdfast.Locks[] = [];
  const servers: http.Server[] = [];
  const stops: (() => unknown)[] = [];
  const cases: Case[] = [];
  const kept = <T>(list: T[], item: T): T => {
    list.push(item);
    return item;
  };
  const createLocks: typeof holdfast.createLocks = (...given) =>
    kept(opened, holdfast.createLocks(...given));
  const connecting: typeof connect = async (...given) => kept(opened, await connect(...given));
  const createServer = (work: http.RequestListener) => kept(servers, http.createServer(work));
  const instrumenting: typeof instrument = (...given) => kept(stops, instrument(...given));
  const it = (_name: string, ...[body]: unknown[]): void => {
    if (typeof body === 'function') cases.push(body as Case);
  };
  const replaced: Record<string, Module> = {
    holdfast: { ...holdfast, createLocks },
    'holdfast/connect': { connect: connecting, openStore },
    'holdfast/opentelemetry': { instrument: instrumenting },
    'node:http': { createServer },
    'node:test': {
      ...{ it, test: it },
      describe: (_name: string, ...rest: unknown[]) => bodyOf(rest)(),
    },
  };
  const load = async (name: string): Promise<Module> => replaced[name] ?? (await installed(name));
  return { opened, servers, stops, cases, replaced, load };
}

async function installed(name: string): Promise<Module> {
  const isMissing = name === 'node:sqlite' && !process.getBuiltinModule(name);
  // On Node 20 its double takes its place, as it does in the store.
  return isMissing ? { DatabaseSync: (await import('libsql')).default } : await import(name);
}

/** Behind the options, if there are any. */
function bodyOf(rest: readonly unknown[]): () => unknown {
  return rest.at(-1) as () => unknown;
}
