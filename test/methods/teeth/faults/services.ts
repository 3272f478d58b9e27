import type { Fault } from '../fault.ts';

const consul = { file: 'src/stores/consul/documents.ts' };
const dynamodb = { file: 'src/stores/dynamodb/documents.ts' };
const mongodb = { file: 'src/stores/mongodb/documents.ts' };
const objects = { file: 'src/stores/objects/documents.ts' };
const table = { file: 'src/stores/table/statements.ts' };

const LOST = 'two hold the same lock: a write replaces what it has not read';
const DENIED = 'a claim that was written is taken for refused, and holds unknown to its caller';

/** What the services of documents are asked on condition, and what their replies mean. */
export const SERVICE_FAULTS: readonly Fault[] = [
  {
    ...consul,
    name: 'consul: a write asks for no version',
    find: `Verb: 'cas'`,
    replace: `Verb: 'set'`,
    why: LOST,
  },
  {
    ...consul,
    name: 'consul: a removal asks for no version',
    find: `Verb: 'delete-cas'`,
    replace: `Verb: 'delete'`,
    why: 'a lock that is held is removed',
  },
  {
    ...dynamodb,
    name: 'dynamodb: a write asks for no version',
    find: `ConditionExpression: '#version = :version'`,
    replace: `ConditionExpression: 'attribute_exists(#version) OR #version = :version'`,
    why: LOST,
  },
  {
    ...dynamodb,
    name: 'dynamodb: a write that the client repeated is taken for refused',
    find: 'if (isRefused(error) && !isRepeated(error))',
    replace: 'if (isRefused(error))',
    why: DENIED,
  },
  {
    ...mongodb,
    name: 'mongodb: a write asks for no version',
    find: 'mongo.updateOne({ _id: key, version: onto }',
    replace: 'mongo.updateOne({ _id: key }',
    why: LOST,
  },
  {
    ...mongodb,
    name: 'mongodb: a write without a reply is taken for refused',
    find: 'if (onto === undefined && isDuplicate(error))',
    replace: 'if (onto !== undefined || isDuplicate(error))',
    why: DENIED,
  },
  {
    ...objects,
    name: 'objects: a write asks for no version',
    find: ': { ifMatch: onto };',
    replace: ': {};',
    why: LOST,
  },
  {
    ...objects,
    name: 'objects: a write that the client repeated is taken for refused',
    find: 'if (!isRepeated(error) && isOther(error, onto))',
    replace: 'if (isOther(error, onto))',
    why: DENIED,
  },
  {
    ...table,
    name: 'table: a write asks for no version',
    find: `WHERE name = ? AND version = ?\${reply}`,
    replace: `WHERE name = ? AND (version = ? OR true)\${reply}`,
    why: LOST,
  },
  {
    ...table,
    name: 'table: a removal asks for no version',
    find: 'WHERE name = ? AND version = ?`,\n    list',
    replace: 'WHERE name = ? AND (version = ? OR true)`,\n    list',
    why: 'a lock that is held is removed',
  },
];
