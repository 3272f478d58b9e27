/** As much of S3 as the page on fences uses: objects in memory that are written on a condition. */
import type { Module } from './blocks.ts';

interface Put {
  readonly Key: string;
  readonly Body: string;
  readonly IfMatch?: string;
  readonly IfNoneMatch?: string;
}

class GetObjectCommand {
  readonly input: { readonly Key: string };

  constructor(input: GetObjectCommand['input']) {
    this.input = input;
  }
}

class PutObjectCommand {
  readonly input: Put;

  constructor(input: Put) {
    this.input = input;
  }
}

export function newBucket(objects: Map<string, string>): Module {
  const etags = new Map<string, string>();
  let versions = 0;
  const get = (key: string) => {
    const text = objects.get(key);
    if (text === undefined) throw refusal(404);
    return { Body: { transformToString: async () => text }, ETag: etags.get(key) };
  };
  const put = ({ Key, Body, IfMatch, IfNoneMatch }: Put) => {
    const etag = etags.get(Key);
    if (IfMatch !== undefined && IfMatch !== etag) throw refusal(412);
    if (IfNoneMatch === '*' && etag !== undefined) throw refusal(412);
    versions++;
    etags.set(Key, `"${versions}"`);
    objects.set(Key, Body);
    return { ETag: etags.get(Key) };
  };
  const s3 = {
    send: async (command: GetObjectCommand | PutObjectCommand) =>
      command instanceof GetObjectCommand ? get(command.input.Key) : put(command.input),
  };
  return { s3, GetObjectCommand, PutObjectCommand };
}

/** As the SDK throws it. */
function refusal(httpStatusCode: number): Error {
  return Object.assign(new Error(`${httpStatusCode}`), { $metadata: { httpStatusCode } });
}
