/** For people: the holder, from the text of a queue. */

interface Text {
  readonly queue?: {
    readonly claims?: readonly {
      readonly admitted?: boolean;
      readonly holder?: { readonly host?: string; readonly pid?: number; readonly label?: string };
    }[];
  };
}

/** The first of those that hold, and how many more there are; undefined if there is none. */
export function holderIn(text: string): string | undefined {
  const { queue } = JSON.parse(text) as Text;
  const [first, ...more] = (queue?.claims ?? []).filter(({ admitted }) => admitted);
  if (!first) return undefined;
  const { host = '', pid = '', label } = first.holder ?? {};
  const shown = label === undefined ? `${host}:${pid}` : `${label} (${host}:${pid})`;
  return more.length === 0 ? shown : `${shown} +${more.length}`;
}
