import { Injectable } from '@nestjs/common';

/** Sends one order at a time or is overrun. A test may hold it up. */
@Injectable()
export class Warehouse {
  readonly sent: string[] = [];
  most = 0;
  inside = 0;
  open: Promise<void> = new Promise((resolve) => setTimeout(resolve, 20));
  entered: () => void = () => {};

  async send(id: string, signal?: AbortSignal): Promise<string> {
    this.inside += 1;
    this.most = Math.max(this.most, this.inside);
    this.entered();
    await this.open;
    signal?.throwIfAborted();
    this.inside -= 1;
    this.sent.push(id);
    return `sent ${id}`;
  }
}
