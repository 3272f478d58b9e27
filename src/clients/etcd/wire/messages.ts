/**
 * The messages of etcd's API that locks need, with the protocol's numbers of their fields. Other
 * fields keep their defaults, or are ignored.
 */
import type { EtcdPut, KeyRange, KeyValue, RangeAnswer, RangeQuery } from '../client.ts';
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
  uint64,
} from './protobuf.ts';
import { MalformedError } from './wire-format.ts';

export interface Header {
  cluster: bigint;
  revision: bigint;
  term: bigint;
}

/** It has the one of these fields that its target names. */
export interface CompareMessage extends Partial<KeyValue> {
  result: number;
  target: number;
  end?: string | undefined;
}

interface RangeRequest extends Omit<RangeQuery, 'oldestFirst'> {
  order?: number;
  sortBy?: number;
}

interface PutRequest extends Omit<EtcdPut, 'lease'> {
  lease?: bigint | undefined;
  keepLease?: boolean;
}

export interface RequestOp {
  range?: RangeRequest;
  put?: PutRequest;
  delete?: KeyRange;
  txn?: TxnRequest;
}

export interface TxnRequest {
  compare: readonly CompareMessage[];
  success: readonly RequestOp[];
  failure: readonly RequestOp[];
}

export interface ResponseOp {
  range?: RangeAnswer;
  put?: Record<string, never>;
  delete?: { deleted: number };
  txn?: TxnResponse;
}

export interface TxnResponse {
  header?: Header;
  succeeded: boolean;
  answers: readonly ResponseOp[];
}

interface LeaseMessage {
  header?: Header;
  id: bigint;
  ttl: bigint;
}

export interface LeaseTimes {
  readonly id: bigint;
  /** In seconds. */
  readonly ttl: bigint;
  readonly term: bigint;
}

export interface WatchRequest {
  create?: KeyRange & { from: bigint };
  cancel?: { id: bigint };
}

export interface EventMessage {
  type: number;
  kv?: KeyValue;
}

export interface WatchResponse {
  header?: Header;
  id: bigint;
  created: boolean;
  canceled: boolean;
  compactRevision: bigint;
  reason: string;
  events: readonly EventMessage[];
}

const header: Message<Header> = message(() => ({
  cluster: plain(1, uint64),
  revision: plain(3, int64),
  term: plain(4, uint64),
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
  createRevision: always(5, int64),
  modRevision: always(6, int64),
  value: always(7, text),
  lease: always(8, int64),
  end: plain(64, text),
}));

const rangeRequest: Message<RangeRequest> = message(() => ({
  key: plain(1, text),
  end: plain(2, text),
  limit: plain(3, count),
  order: plain(5, count),
  sortBy: plain(6, count),
  keysOnly: plain(8, bool),
  countOnly: plain(9, bool),
}));

const putRequest: Message<PutRequest> = message(() => ({
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

const putResponse: Message<Record<string, never>> = message(() => ({}));

const deleteResponse: Message<{ deleted: number }> = message(() => ({ deleted: plain(2, count) }));

const responseOp: Message<ResponseOp> = message(() => ({
  range: always(1, rangeResponse),
  put: always(2, putResponse),
  delete: always(3, deleteResponse),
  txn: always(4, txnResponse),
}));

export const txnResponse: Message<TxnResponse> = message(() => ({
  header: always(1, header),
  succeeded: plain(2, bool),
  answers: many(3, responseOp),
}));

/** For keep-alives, revocations and requests for the time to live. */
export const leaseRequest: Message<{ id: bigint }> = message(() => ({ id: plain(1, int64) }));

export const grantRequest: Message<{ ttl: bigint }> = message(() => ({ ttl: plain(1, int64) }));

/** For grants, keep-alives and requests for the time to live. */
const leaseResponse: Message<LeaseMessage> = message(() => ({
  header: always(1, header),
  id: plain(2, int64),
  ttl: plain(3, int64),
}));

/** @throws MalformedError */
export function readLease(answer: Buffer): LeaseTimes {
  const { header, id, ttl } = decode(leaseResponse, answer);
  if (header === undefined) throw new MalformedError('an answer has no header');
  return { id, ttl, term: header.term };
}

const watchCreate: Message<NonNullable<WatchRequest['create']>> = message(() => ({
  key: plain(1, text),
  end: plain(2, text),
  from: plain(3, int64),
}));

const watchCancel: Message<{ id: bigint }> = message(() => ({ id: plain(1, int64) }));

export const watchRequest: Message<WatchRequest> = message(() => ({
  create: always(1, watchCreate),
  cancel: always(2, watchCancel),
}));

const event: Message<EventMessage> = message(() => ({
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

export const authenticateRequest: Message<{ name: string; password: string }> = message(() => ({
  name: plain(1, text),
  password: plain(2, text),
}));

export const authenticateResponse: Message<{ token: string }> = message(() => ({
  token: plain(2, text),
}));
