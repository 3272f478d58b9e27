/**
 * The service of objects in the demo, for the locks and for what is sold: text that is written on a
 * condition, as in S3. The process that plays keeps it, and the others ask over the channel that
 * Node opens to a child, so the demo needs nothing that Node does not bring.
 */
import type { ChildProcess } from 'node:child_process';
import type { ConditionalPut, ObjectAccess, StoredObject } from '../../stores/objects/index.ts';

const objects = new Map<string, StoredObject>();
let writes = 0;

/** Replies with the object; with none if there is none, or the condition does not hold. */
export function serveObjects(child: ChildProcess): void {
  child.on('message', (message) => {
    const { id, key, put } = message as { id: number; key: string; put?: ConditionalPut };
    // One that was killed hears no reply.
    child.send({ id, object: put ? write(key, put) : objects.get(key) }, () => {});
  });
}

function write(key: string, { text, ifMatch }: ConditionalPut): StoredObject | undefined {
  if (objects.get(key)?.etag !== ifMatch) return undefined;
  const object = { text, etag: `${++writes}` };
  objects.set(key, object);
  return object;
}

/** For a child: the objects whose keys begin with `place`. */
export function objectsIn(place: string): ObjectAccess {
  return {
    get: (key) => ask(place + key),
    async put(put) {
      const object = await ask(place + put.key, put);
      if (object) return object.etag;
      throw Object.assign(new Error('The condition does not hold.'), { status: 412 });
    },
  };
}

let asked = 0;

function ask(key: string, put?: ConditionalPut): Promise<StoredObject | undefined> {
  const id = ++asked;
  return new Promise((resolve) => {
    const take = (message: unknown): void => {
      const reply = message as { readonly id: number; readonly object?: StoredObject };
      if (reply.id !== id) return;
      process.off('message', take);
      resolve(reply.object);
    };
    process.on('message', take);
    process.send?.({ id, key, put });
  });
}
