/** Numbers behind a fence, in objects of a server. */
import { httpObjects, type ObjectFence, objectFence } from 'holdfast/fence';
import type { ObjectServer } from './object-server.ts';

export function at(resource: string): { readonly resource: string; readonly lineage: string } {
  return { resource, lineage: 'one' };
}

export function numbers(url: string): ObjectFence<number> {
  return objectFence<number>(httpObjects({ url }), { initial: 0 });
}

export function valueIn(service: ObjectServer, key: string): unknown {
  return JSON.parse(service.texts.get(key) ?? '{}').value;
}
