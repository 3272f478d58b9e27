/** What a process of a crew has in common with the others. */

/** Another member was stopped with SIGSTOP, and cannot see whether its parent is still there. */
export interface Stopped {
  readonly stopped: number;
}

/** What its parent has told it at the start. */
export function readPlan<Plan>(): Plan {
  return JSON.parse(process.argv[2] ?? '') as Plan;
}

/** Acts on orders, for as long as its parent is there to give them. */
export function hearOrders<Order extends string>(acts: Readonly<Record<Order, () => void>>): void {
  let stopped: number | undefined;
  process.on('message', (order: Order | Stopped) => {
    if (typeof order === 'object') stopped = order.stopped;
    else acts[order]();
  });
  process.once('disconnect', () => {
    if (stopped !== undefined) wake(stopped);
    process.exit();
  });
  // A terminal sends Ctrl-C to all its processes; the parent decides what becomes of them.
  process.on('SIGINT', () => {});
}

/** Reports; resolves when the report is on its way. */
export function tell<Report>(report: Report): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(report, () => resolve());
  });
}

/** Goes home: it no longer listens to its parent. */
export function leave(): void {
  process.disconnect();
}

function wake(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It is gone already.
  }
}
