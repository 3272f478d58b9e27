/** Transactions as messages of etcd. */
import type { Compare, EtcdReply, Operation, OperationAnswer, Txn, TxnAnswer } from '../client.ts';
import {
  type CompareMessage,
  type Header,
  type RequestOp,
  type ResponseOp,
  type TxnRequest,
  type TxnResponse,
  txnResponse,
} from './messages.ts';
import { decode } from './protobuf.ts';
import { MalformedError } from './wire-format.ts';

const RESULTS = { '=': 0, '>': 1, '<': 2, '!=': 3 } as const;
const TARGETS = { version: 0, create: 1, mod: 2, value: 3, lease: 4 } as const;
const FIELDS = {
  version: 'version',
  create: 'createRevision',
  mod: 'modRevision',
  value: 'value',
  lease: 'lease',
} as const;
const ASCENDING = 1;
const BY_CREATION = 2;

export function txnRequestOf({ compare = [], success, failure = [] }: Txn): TxnRequest {
  return {
    compare: compare.map(compareOf),
    success: success.map(requestOf),
    failure: failure.map(requestOf),
  };
}

/** @throws MalformedError */
export function readReply(answer: Buffer): EtcdReply {
  const response = decode(txnResponse, answer);
  const { revision, cluster } = headerOf(response);
  return { ...txnAnswerOf(response), revision, cluster };
}

/** @throws MalformedError */
export function readTerm(answer: Buffer): bigint {
  return headerOf(decode(txnResponse, answer)).term;
}

function headerOf({ header }: TxnResponse): Header {
  if (header === undefined) throw new MalformedError('an answer has no header');
  return header;
}

function compareOf({ target, is, to, key, end }: Compare): CompareMessage {
  return { result: RESULTS[is], target: TARGETS[target], key, end, [FIELDS[target]]: to };
}

function requestOf(operation: Operation): RequestOp {
  if ('range' in operation) {
    const { oldestFirst, ...range } = operation.range;
    const sorted = oldestFirst ? { order: ASCENDING, sortBy: BY_CREATION } : {};
    return { range: { ...range, ...sorted } };
  }
  if ('put' in operation) {
    const { key, value, lease } = operation.put;
    return { put: { key, value, ...(lease === 'keep' ? { keepLease: true } : { lease }) } };
  }
  return 'delete' in operation ? operation : { txn: txnRequestOf(operation.txn) };
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
