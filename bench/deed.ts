/**
 * What a figure has done to the servers by whoever runs them: `killLeader` and `mend`. Answers when
 * it was done, in ns of the machine's monotonic clock.
 */
export function deed(name: string): Promise<number> {
  return new Promise((resolve) => {
    process.once('message', (at) => resolve(at as number));
    process.send?.(name);
  });
}
