/**
 * As much of protocol buffers as etcd's messages need, driven by tables of their fields. Unknown
 * fields are skipped, as newer servers may send them.
 */
import { MalformedError, Reader, Writer } from './wire-format.ts';

export interface FieldKind<T> {
  /** How a field ends: 0, by itself; 2, by its length. */
  readonly wire: 0 | 2;
  /** The value of a field that was not written; undefined: none, so that each value is written. */
  readonly absent: T | undefined;
  write(writer: Writer, value: T): void;
  read(reader: Reader): T;
}

export interface Field<T> {
  readonly number: number;
  readonly kind: FieldKind<T>;
  readonly repeated: boolean;
}

type FieldOf<V> = [V] extends [readonly (infer Item)[]] ? Field<Item> : Field<NonNullable<V>>;

export type Fields<M> = { readonly [Name in keyof M]-?: FieldOf<M[Name]> };

export interface Message<M> extends FieldKind<M> {
  writeFields(writer: Writer, value: M): void;
  readFields(reader: Reader): M;
}

export const text: FieldKind<string> = {
  wire: 2,
  absent: '',
  write: (writer, value) => writer.text(value),
  read: (reader) => reader.text(),
};

export const int64: FieldKind<bigint> = {
  wire: 0,
  absent: 0n,
  write: (writer, value) => writer.int(value),
  read: (reader) => reader.int(),
};

/** An enumeration, or an int64 that is small and not negative. */
export const count: FieldKind<number> = {
  wire: 0,
  absent: 0,
  write: (writer, value) => writer.uint(value),
  read: (reader) => reader.uint(),
};

export const bool: FieldKind<boolean> = {
  wire: 0,
  absent: false,
  write: (writer, value) => writer.uint(value ? 1 : 0),
  read: (reader) => reader.uint() !== 0,
};

export function plain<T>(number: number, kind: FieldKind<T>): Field<T> {
  return { number, kind, repeated: false };
}

/** One field of a oneof: its presence alone has a meaning. */
export function always<T>(number: number, kind: FieldKind<T>): Field<T> {
  return plain(number, { ...kind, absent: undefined });
}

export function many<T>(number: number, kind: FieldKind<T>): Field<T> {
  return { number, kind, repeated: true };
}

/** `fields` is called at first use, as messages may contain themselves. */
export function message<M extends object>(fields: () => Fields<NoInfer<M>>): Message<M> {
  let table: FieldTable | undefined;
  const known = (): FieldTable => {
    table ??= tableOf(fields() as Record<string, Field<unknown>>);
    return table;
  };
  const whole: Message<M> = {
    wire: 2,
    absent: undefined,
    writeFields: (writer, value) => writeAll(writer, known(), value as Record<string, unknown>),
    readFields: (reader) => readAll(reader, known()) as M,
    write: (writer, value) => writer.message(() => whole.writeFields(writer, value)),
    read: (reader) => reader.message(() => whole.readFields(reader)),
  };
  return whole;
}

export function encode<M>(kind: Message<M>, value: M): Buffer {
  const writer = new Writer();
  kind.writeFields(writer, value);
  return writer.bytes;
}

/** @throws MalformedError */
export function decode<M>(kind: Message<M>, bytes: Buffer): M {
  return kind.readFields(new Reader(bytes));
}

interface NamedField extends Field<unknown> {
  readonly name: string;
}

/** By their numbers; the last one first, as they are written. */
type FieldTable = ReadonlyMap<number, NamedField>;

function tableOf(fields: Record<string, Field<unknown>>): FieldTable {
  const named = Object.entries(fields).map(([name, field]) => ({ name, ...field }));
  named.sort((a, b) => b.number - a.number);
  return new Map(named.map((field) => [field.number, field]));
}

function writeAll(writer: Writer, fields: FieldTable, value: Record<string, unknown>): void {
  for (const { name, number, kind, repeated } of fields.values()) {
    const found = value[name];
    if (found === undefined || found === kind.absent) continue;
    const items = repeated ? (found as readonly unknown[]) : [found];
    for (let n = items.length - 1; n >= 0; n--) {
      kind.write(writer, items[n]);
      writer.uint(number * 8 + kind.wire);
    }
  }
}

function readAll(reader: Reader, fields: FieldTable): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const { name, kind, repeated } of fields.values()) {
    if (repeated) value[name] = [];
    else if (kind.absent !== undefined) value[name] = kind.absent;
  }
  while (!reader.atEnd) {
    const tag = reader.uint();
    const wire = tag % 8;
    const field = fields.get(Math.floor(tag / 8));
    if (field === undefined) {
      reader.skip(wire);
      continue;
    }
    if (wire !== field.kind.wire) throw new MalformedError(`${field.name} has the wrong wire type`);
    const found = field.kind.read(reader);
    if (field.repeated) (value[field.name] as unknown[]).push(found);
    else value[field.name] = found;
  }
  return value;
}
