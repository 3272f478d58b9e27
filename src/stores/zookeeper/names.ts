/**
 * Resources as names of nodes.
 *
 * A resource is one name, never a path of several. Its characters stay as they are, except those
 * that paths may not have, `/`, which would end the name, and `%`, which marks an escape. These
 * become their UTF-8 as in a URL, with capitals. The names `.` and `..`, which paths may not have
 * either, become their escapes in full. Different resources have different names, because each name
 * reads back as the resource it was made from, and any other name as none: `resourceIn`.
 * No name is `%` alone, as two digits always follow it.
 */
import { checkName, MAX_NAME_BYTES, MAX_PREFIX_BYTES } from '../../base/names.ts';

/** What `checkPath` refuses, and the two with a meaning here. */
const SPECIAL = /[%/\p{Cc}\p{Cs}\p{Co}\ufff0-\uffff\u{10000}-\u{10ffff}]/gu;

/** @throws UsageError for an invalid name: empty, or half of a surrogate pair. */
export function nodeName(resource: string): string {
  checkName(resource, 'resource', MAX_PREFIX_BYTES + MAX_NAME_BYTES);
  if (resource === '.' || resource === '..') return resource.replaceAll('.', '%2E');
  return resource.replace(SPECIAL, encodeURIComponent);
}

/** The resource of this name; undefined if none has it. */
export function resourceIn(name: string): string | undefined {
  try {
    const resource = decodeURIComponent(name);
    return nodeName(resource) === name ? resource : undefined;
  } catch {
    return undefined;
  }
}
