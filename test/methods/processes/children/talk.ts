/** How a child speaks with the test: messages, and times on the machine's monotonic clock. */

/** What most children are given. */
export interface OnStore {
  /** A URL. */
  readonly store: string;
  readonly ttl: number;
}

/** Milliseconds on a clock that all processes of the machine share. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function tell(message: object): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve()));
  });
}

/** Resolves with the next message. */
export function hear(): Promise<unknown> {
  return new Promise((resolve) => process.once('message', resolve));
}

/** What the test gave this child. */
export function given<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
