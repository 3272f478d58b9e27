/**
 * Documents in a collection of MongoDB: `{ _id, text, version }`.
 *
 * A version is a random id that each write brings along, so that none comes twice. A write is one
 * command on one document, whose filter names the version, and is acknowledged by a majority; a
 * read is linearizable. The driver may send a write again: the server knows it by its number, and
 * replies as it did to the first copy.
 * What would break it: a collation of the collection under which different names are equal.
 */
import { isLockError, UsageError } from '../../base/errors.ts';
import { randomId } from '../../base/random-id.ts';
import type { ErrorMeaning } from '../../clients/breaks.ts';
import { describe } from '../../clients/causes.ts';
import { has } from '../../clients/members.ts';
import { StoreError } from '../../contract/errors.ts';
import type { Documents } from '../document/documents.ts';
import { type ChangeFeed, SharedWatch } from '../shared-watch.ts';

/** The part of a `Collection` of the package `mongodb` that is used. */
export interface MongoCollection {
  findOne(...find: never[]): Promise<unknown>;
  find(...find: never[]): AsyncIterable<unknown>;
  insertOne(...insert: never[]): Promise<unknown>;
  updateOne(...update: never[]): Promise<unknown>;
  deleteOne(...deletion: never[]): Promise<unknown>;
  watch(...watch: never[]): unknown;
}

interface KeptDocument {
  readonly _id: string;
  readonly text: string;
  readonly version: string;
}

/** How long the servers may take, in ms: core waits for less, and a late write is refused. */
const PATIENCE_MS = 10_000;

const READ = {
  readConcern: { level: 'linearizable' },
  readPreference: 'primary',
  maxTimeMS: PATIENCE_MS,
};
const WRITE = { writeConcern: { w: 'majority', wtimeoutMS: PATIENCE_MS } };

/** Greater than all text that names are made of. */
const LAST = '\u{10ffff}\u{10ffff}';

export function mongodbDocuments(collection: MongoCollection): Documents {
  if (!has(collection, 'findOne', 'find', 'insertOne', 'updateOne', 'deleteOne', 'watch')) {
    throw new UsageError('mongodbStore takes a collection of the package mongodb.');
  }
  const mongo = collection as unknown as Collection;
  const changes = new SharedWatch(() => openFeed(mongo));

  return {
    name: 'mongodb',
    async get(key) {
      const found = await mongo.findOne({ _id: key }, READ).catch(fail);
      return found ? { text: found.text, version: found.version } : {};
    },
    async put(key, text, onto) {
      const version = randomId();
      try {
        if (onto === undefined) {
          await mongo.insertOne({ _id: key, text, version }, WRITE);
          return { version };
        }
        const change = { $set: { text, version } };
        const { matchedCount } = await mongo.updateOne({ _id: key, version: onto }, change, WRITE);
        return matchedCount === 1 ? { version } : 'other';
      } catch (error) {
        const { code } = error as MongoError;
        if (onto === undefined && code === DUPLICATE_KEY) return 'other';
        return fail(error);
      }
    },
    async remove(key, version) {
      await mongo.deleteOne({ _id: key, version }, WRITE).catch(fail);
    },
    async *list(prefix) {
      const range = { _id: { $gte: prefix, $lt: prefix + LAST } };
      const options = { projection: { _id: 1 }, readPreference: 'primary' };
      try {
        for await (const { _id } of mongo.find(range, options)) yield _id;
      } catch (error) {
        fail(error);
      }
    },
    watch: (key, changed) => changes.watch(key, changed).catch(fail),
    close: () => changes.close(),
  };
}

interface Collection {
  findOne(filter: object, options: object): Promise<KeptDocument | null>;
  find(filter: object, options: object): AsyncIterable<KeptDocument>;
  insertOne(document: KeptDocument, options: object): Promise<unknown>;
  updateOne(filter: object, change: object, options: object): Promise<{ matchedCount: number }>;
  deleteOne(filter: object, options: object): Promise<unknown>;
  watch(pipeline: readonly object[]): ChangeStream;
}

interface ChangeStream {
  /** In versions 6 and 7; `init`: the server has opened the stream. */
  readonly cursor?: { once(event: 'init', heard: () => void): unknown };
  tryNext(): Promise<ChangeEvent | null>;
  next(): Promise<ChangeEvent>;
  close(): Promise<unknown>;
  readonly closed: boolean;
}

interface ChangeEvent {
  readonly documentKey?: { readonly _id: string };
}

/** What a change stream needs to go on after a break, and the key. */
const PIPELINE = [{ $project: { documentKey: 1 } }];

async function openFeed(mongo: Collection): Promise<ChangeFeed> {
  const stream = mongo.watch(PIPELINE);
  const opened = new Promise<void>((resolve) => {
    stream.cursor?.once('init', resolve);
  });
  // Opens the stream, and then waits for a change: for a second where none comes.
  const first = stream.tryNext();
  // It fails too if the stream is closed meanwhile.
  first.catch(() => {});
  await Promise.race([opened, first]);
  return {
    close: () => stream.close(),
    async *[Symbol.asyncIterator]() {
      let change: ChangeEvent | null = await first;
      while (!stream.closed) {
        if (change?.documentKey) yield change.documentKey._id;
        change = await stream.next();
      }
    },
  };
}

interface MongoError {
  readonly name?: string;
  readonly code?: number;
  hasErrorLabel?(label: string): boolean;
}

const refused = (retryable: boolean, advice: string): ErrorMeaning => {
  return { retryable, outcome: 'failed', advice };
};
const unclear = (advice: string): ErrorMeaning => ({ retryable: true, outcome: 'unknown', advice });

const CODES: Readonly<Record<number, ErrorMeaning>> = {
  13: refused(false, 'does not permit this user to do that'),
  18: refused(false, 'does not know this user and password'),
  20: refused(false, 'is no replica set. Start it with --replSet, and initiate the set'),
  50: unclear('waited too long for the other servers'),
  64: unclear('waited too long for the other servers'),
  91: unclear('is shutting down'),
  123: refused(false, 'is no replica set. Start it with --replSet, and initiate the set'),
  189: unclear('is no longer the primary'),
  10107: refused(true, 'is not the primary'),
  11600: unclear('is shutting down'),
  11602: unclear('has changed its role meanwhile'),
  13435: refused(true, 'is not the primary'),
  13436: refused(true, 'is not the primary'),
  // No change streams on a server that is alone.
  40573: refused(false, 'is no replica set. Start it with --replSet, and initiate the set'),
};

const DUPLICATE_KEY = 11000;

/** @throws the error as a `StoreError`. */
function fail(error: unknown): never {
  if (isLockError(error)) throw error;
  const { retryable, outcome, advice } = meaningOf((error ?? {}) as MongoError);
  const message = `The MongoDB server ${advice} (${describe(error)}).`;
  throw new StoreError(message, { cause: error, retryable, outcome });
}

function meaningOf(error: MongoError): ErrorMeaning {
  const known = CODES[error.code ?? -1];
  if (known) return known;
  if (error.name === 'MongoServerSelectionError') return refused(true, 'cannot be reached');
  if (error.name === 'MongoServerError' && !error.hasErrorLabel?.('RetryableWriteError')) {
    return refused(false, 'refused the request');
  }
  return unclear('broke the connection, or failed');
}
