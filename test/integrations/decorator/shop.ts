import { currentLease, type Lease, type Locks, locked } from 'holdfast';

export interface Order {
  readonly id: string;
}

type Work = () => Promise<void>;

export class Shop {
  readonly steps: string[] = [];
  readonly leases: (Lease | undefined)[] = [];
  readonly #secret = 'this';
  readonly #locks: Locks;

  constructor(locks: Locks) {
    this.#locks = locks;
  }

  get locks(): Locks {
    return this.#locks;
  }

  @locked(
    (self: Shop) => self.locks,
    (order: Order) => `order:${order.id}`,
  )
  async ship(order: Order, how = 'by post'): Promise<string> {
    this.steps.push(`begin ${order.id}`);
    await new Promise((resolve) => setImmediate(resolve));
    this.leases.push(currentLease());
    this.steps.push(`end ${order.id}`);
    return `${this.#secret}, ${how}`;
  }

  @locked((self: Shop) => self.locks, 'report', { ifBusy: 'skip' })
  async report(work: Work): Promise<string | undefined> {
    await work();
    return 'reported';
  }

  @locked(
    (self: Shop) => self.locks,
    (signal: AbortSignal) => ({ name: 'slow', signal }),
  )
  async slow(_signal: AbortSignal, work: Work): Promise<void> {
    await work();
  }

  @locked((self: Shop) => self.locks, 'slow', { wait: 1, label: 'hasty' })
  async hasty(work: Work): Promise<void> {
    await work();
  }

  @locked(
    (self: Shop) => self.locks,
    () => ({ name: 'slow', wait: 1 }),
    { wait: '1h' },
  )
  async hastyCall(work: Work): Promise<void> {
    await work();
  }

  @locked((self: Shop) => self.locks, 'failing')
  fail(): Promise<never> {
    throw new RangeError('on purpose');
  }

  @locked((self: Shop) => self.locks, 'tree', { reentrant: true })
  async walk(depth: number): Promise<number> {
    return depth === 0 ? 0 : 1 + (await this.walk(depth - 1));
  }

  @locked((self: Shop) => self.locks, 'bush')
  async push(depth: number): Promise<number> {
    return depth === 0 ? 0 : 1 + (await this.push(depth - 1));
  }

  static locks: Locks;

  @locked((self: typeof Shop) => self.locks, 'static')
  static async stock(): Promise<string | undefined> {
    return currentLease()?.resource;
  }
}
