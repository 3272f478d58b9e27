import type { Holder } from '../contract/store.ts';

let last: Holder | undefined;
let beginning = '';

/** The holder as JSON; all but `since` is kept, in which alone the claims of a lock differ. */
export function holderJson(holder: Holder): string {
  const { host, pid, label, mark, since } = holder;
  if (last?.host !== host || last.pid !== pid || last.label !== label || last.mark !== mark) {
    last = holder;
    beginning = JSON.stringify({ host, pid, label, mark }).slice(0, -1);
  }
  return `${beginning},"since":${since}}`;
}
