/**
 * The messages of etcd's API that locks need, with the protocol's numbers of their fields. Other
 * fields keep their defaults, or are ignored.
 */
import type {
  Compare,
  EtcdPut,
  EtcdReply,
  KeyRange,
  KeyValue,
  Operation,
  OperationAnswer,
  RangeAnswer,
  RangeQuery,
  Txn,
  TxnAnswer,
} from '../client.ts';
import {
  always,
  bool,
  count,
  decode,
  int64,
  type Message,
  many,
  message,
  plain,
  text,
} from './protobuf.ts';
import { MalformedError } from './wire-format.ts';

interface Header {
  cluster: bigint;
  revision: bigint;
  term: bigint;
}

/** It has the one of these fields that its target names. */
interface CompareMessage extends KeyRange {
  result: number;
  target: number;
  version?: bigint;
  create?: bigint;
  mod?: bigint;
  value?: string;
  lease?: bigint;
}

interface RequestOp {
  range?: Omit<RangeQuery, 'oldestFirst'> & { order?: number; sortBy?: number };
  put?: Omit<EtcdPut, 'lease'> & { lease?: bigint | undefined; keepLease?: boolean };
  delete?: KeyRange;
  txn?: TxnRequest;
}

export interface TxnRequest {
  compare: readonly CompareMessage[];
  success: readonly RequestOp[];
  failure: readonly RequestOp[];
}

interface ResponseOp {
  range?: RangeAnswer;
  put?: Record<string, never>;
  delete?: { deleted: number };
  txn?: TxnResponse;
}

interface TxnResponse {
  header?: Header;
  succeeded: boolean;
  answers: readonly ResponseOp[];
}

export interface LeaseTimes {
  header?: Header;
  id: bigint;
  /** In seconds. */
  ttl: bigint;
}

interface WatchRequest {
  create?: KeyRange & { from: bigint };
  cancel?: { id: bigint };
}

export interface WatchResponse {
  header?: Header;
  id: bigint;
  created: boolean;
  canceled: boolean;
  compactRevision: bigint;
  reason: string;
  events: readonly { type: number; kv?: KeyValue }[];
}

export const empty: Message<Record<string, never>> = message(() => ({}));

const header: Message<Header> = message(() => ({
  cluster: plain(1, int64),
  revision: plain(3, int64),
  term: plain(4, int64),
}));

const keyValue: Message<KeyValue> = message(() => ({
  key: plain(1, text),
  createRevision: plain(2, int64),
  modRevision: plain(3, int64),
  version: plain(4, int64),
  value: plain(5, text),
  lease: plain(6, int64),
}));

const compare: Message<CompareMessage> = message(() => ({
  result: plain(1, count),
  target: plain(2, count),
  key: plain(3, text),
  version: always(4, int64),
  create: always(5, int64),
  mod: always(6, int64),
  value: always(7, text),
  lease: always(8, int64),
  end: plain(64, text),
}));

const rangeRequest: Message<NonNullable<RequestOp['range']>> = message(() => ({
  key: plain(1, text),
  end: plain(2, text),
  limit: plain(3, count),
  order: plain(5, count),
  sortBy: plain(6, count),
  keysOnly: plain(8, bool),
  countOnly: plain(9, bool),
}));

const putRequest: Message<NonNullable<RequestOp['put']>> = message(() => ({
  key: plain(1, text),
  value: plain(2, text),
  lease: plain(3, int64),
  keepLease: plain(6, bool),
}));

const deleteRequest: Message<KeyRange> = message(() => ({
  key: plain(1, text),
  end: plain(2, text),
}));

const requestOp: Message<RequestOp> = message(() => ({
  range: always(1, rangeRequest),
  put: always(2, putRequest),
  delete: always(3, deleteRequest),
  txn: always(4, txnRequest),
}));

export const txnRequest: Message<TxnRequest> = message(() => ({
  compare: many(1, compare),
  success: many(2, requestOp),
  failure: many(3, requestOp),
}));

const rangeResponse: Message<RangeAnswer> = message(() => ({
  kvs: many(2, keyValue),
  count: plain(4, count),
}));

const deleteResponse: Message<{ deleted: number }> = message(() => ({ deleted: plain(2, count) }));

const responseOp: Message<ResponseOp> = message(() => ({
  range: always(1, rangeResponse),
  put: always(2, empty),
  delete: always(3, deleteResponse),
  txn: always(4, txnResponse),
}));

export const txnResponse: Message<TxnResponse> = message(() => ({
  header: always(1, header),
  succeeded: plain(2, bool),
  answers: many(3, responseOp),
}));

export const idRequest: Message<{ id: bigint }> = message(() => ({ id: plain(1, int64) }));

export const grantRequest: Message<{ ttl: bigint }> = message(() => ({ ttl: plain(1, int64) }));

const leaseResponse: Message<LeaseTimes> = message(() => ({
  header: always(1, header),
  id: plain(2, int64),
  ttl: plain(3, int64),
}));

const watchCreate: Message<NonNullable<WatchRequest['create']>> = message(() => ({
  key: plain(1, text),
  end: plain(2, text),
  from: plain(3, int64),
}));

export const watchRequest: Message<WatchRequest> = message(() => ({
  create: always(1, watchCreate),
  cancel: always(2, idRequest),
}));

const event: Message<WatchResponse['events'][number]> = message(() => ({
  type: plain(1, count),
  kv: always(2, keyValue),
}));

export const watchResponse: Message<WatchResponse> = message(() => ({
  header: always(1, header),
  id: plain(2, int64),
  created: plain(3, bool),
  canceled: plain(4, bool),
  compactRevision: plain(5, int64),
  reason: plain(6, text),
  events: many(11, event),
}));

const RESULTS = { '=': 0, '>': 1, '<': 2, '!=': 3 } as const;
const TARGETS = { version: 0, create: 1, mod: 2, value: 3, lease: 4 } as const;
const OLDEST_FIRST = { order: 1, sortBy: 2 };

export function txnRequestOf({ compare = [], success, failure = [] }: Txn): TxnRequest {
  return {
    compare: compare.map(compareOf),
    success: success.map(requestOf),
    failure: failure.map(requestOf),
  };
}

function compareOf({ target, is, to, ...range }: Compare): CompareMessage {
  return { result: RESULTS[is], target: TARGETS[target], ...range, [target]: to };
}

function requestOf(operation: Operation): RequestOp {
  if ('range' in operation) {
    const { oldestFirst, ...range } = operation.range;
    return { range: { ...range, ...(oldestFirst && OLDEST_FIRST) } };
  }
  if ('put' in operation) {
    const { key, value, lease } = operation.put;
    return { put: { key, value, ...(lease === 'keep' ? { keepLease: true } : { lease }) } };
  }
  return 'delete' in operation ? operation : { txn: txnRequestOf(operation.txn) };
}

export function readReply(answer: Buffer): EtcdReply {
  const response = withHeader(txnResponse, answer);
  const { revision, cluster } = response.header;
  return { ...txnAnswerOf(response), revision, cluster: BigInt.asUintN(64, cluster) };
}

export function readTerm(answer: Buffer): bigint {
  return withHeader(txnResponse, answer).header.term;
}

export function readLease(answer: Buffer): Required<LeaseTimes> {
  return withHeader(leaseResponse, answer);
}

function withHeader<M extends { header?: Header }>(
  kind: Message<M>,
  answer: Buffer,
): M & { header: Header } {
  const response = decode(kind, answer);
  if (response.header === undefined) throw new MalformedError('an answer has no header');
  return response as M & { header: Header };
}

function txnAnswerOf({ succeeded, answers }: TxnResponse): TxnAnswer {
  return { succeeded, answers: answers.map(answerOf) };
}

function answerOf({ range, put, delete: deleted, txn }: ResponseOp): OperationAnswer {
  if (range) return { range };
  if (put) return { put: true };
  if (deleted) return { deleted: deleted.deleted };
  if (txn) return { txn: txnAnswerOf(txn) };
  throw new MalformedError('an answer is of no known kind');
}
