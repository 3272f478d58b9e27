/** Lets work wait until the case opens it. */
export type Gate = { readonly opened: Promise<void>; open(): void };

export function gate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** Counts how many are inside at the same time. */
export class Occupancy {
  inside = 0;
  most = 0;
  entries = 0;

  enter(weight = 1): void {
    this.entries++;
    this.inside += weight;
    this.most = Math.max(this.most, this.inside);
  }

  leave(weight = 1): void {
    this.inside -= weight;
  }
}
