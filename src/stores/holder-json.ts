import type { Holder } from '../contract/store.ts';

let last: Holder | undefined;
let beginning = '';

/**
 * The holder as JSON. The claims of a lock differ only in `since`, so the rest is kept: making it
 * costs more than all else that is written about a claim.
 */
export function holderJson(holder: Holder): string {
  const { host, pid, label, mark, since } = holder;
  if (last?.host !== host || last.pid !== pid || last.label !== label || last.mark !== mark) {
    last = holder;
    beginning = JSON.stringify({ host, pid, label, mark }).slice(0, -1);
  }
  return `${beginning},"since":${since}}`;
}
