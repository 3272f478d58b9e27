/** One sale: four seller processes, one stock table, and the count of what they have sold. */
import { join } from 'node:path';
import { Crew } from '../shared/crew.ts';
import * as screen from '../shared/screen.ts';
import type { Stage } from '../shared/stage.ts';
import type { Protection, SellerOrder, SellerPlan, SellerReport } from './seller-plan.ts';
import { ITEMS, Shop, type Takings } from './shop.ts';

const SELLERS: readonly string[] = ['seller 1', 'seller 2', 'seller 3', 'seller 4'];

/** Where there is no progress bar, a line for every so many sales. */
const LINE_EVERY = 100;
const BAR_CELLS = 40;

export interface SaleOptions {
  readonly stage: Stage;
  /** Names the database of this sale. */
  readonly name: string;
  readonly protection: Protection;
  readonly ttlMs: number;
  readonly thinkMs: number;
}

type Report<Event extends SellerReport['event']> = Extract<SellerReport, { event: Event }>;

interface Seller {
  readonly pid: number;
  ready: boolean;
  sold: number;
  /** Its report that it waits between its read and its write. */
  between?: Report<'between'>;
  refusal?: Report<'refused'>;
  /** What became of it, for the table. */
  fate: string;
}

export class SaleRound {
  readonly crew: Crew<SellerOrder, SellerReport>;
  readonly #shop: Shop;
  readonly #sellers = new Map<string, Seller>();
  #sold = 0;
  #latest: (Report<'sold'> & { readonly name: string }) | undefined;

  private constructor(shop: Shop) {
    this.#shop = shop;
    this.crew = new Crew(new URL('./seller.ts', import.meta.url), (name, report) =>
      this.#hear(name, report),
    );
  }

  /** Fills the stock and starts the sellers; resolves when all of them are at work. */
  static async open({ stage, name, ...options }: SaleOptions): Promise<SaleRound> {
    const shopFile = join(stage.folder, `${name}.db`);
    const shop = await Shop.open(shopFile);
    shop.fill();
    const round = new SaleRound(shop);
    const sellers = round.#sellers;
    for (const seller of SELLERS) {
      const plan: SellerPlan = { ...options, name: seller, shopFile, stage };
      const pid = round.crew.start(seller, plan);
      sellers.set(seller, { pid, ready: false, sold: 0, fate: '' });
    }
    round.#draw();
    const ready = (): boolean => [...sellers.values()].every((seller) => seller.ready);
    await round.crew.until('all sellers are there', ready);
    round.crew.orderAll('sell');
    return round;
  }

  get sold(): number {
    return this.#sold;
  }

  /** The last sale that was reported. */
  get latest(): (Report<'sold'> & { readonly name: string }) | undefined {
    return this.#latest;
  }

  seller(name: string): Seller {
    const seller = this.#sellers.get(name);
    if (!seller) throw new Error(`There is no ${name}.`);
    return seller;
  }

  /** Resolves when all is sold and all sellers have gone home. */
  async close(): Promise<Takings> {
    await this.crew.until('everything is sold', () => this.crew.size === 0);
    const takings = this.#shop.takings();
    this.#shop.close();
    screen.show([]);
    if (screen.isLive || takings.sales % LINE_EVERY !== 0) screen.say(progress(takings.sales));
    screen.say('');
    return takings;
  }

  /** Who has sold how much, and what it comes to. */
  table(takings: Takings, verdict: string): string[] {
    const rows = [...this.#sellers].map(([name, { pid, sold, fate }]) => {
      return [name, String(pid), String(sold), fate];
    });
    const together = ['together', '', String(takings.sales), verdict];
    return screen.table(['', 'pid', 'sold', ''], [...rows, together]);
  }

  #hear(name: string, report: SellerReport): void {
    const seller = this.seller(name);
    if (report.event === 'ready') seller.ready = true;
    else if (report.event === 'between') seller.between = report;
    else if (report.event === 'refused') seller.refusal = report;
    else {
      seller.sold++;
      this.#sold++;
      this.#latest = { ...report, name };
      this.#draw();
      if (!screen.isLive && this.#sold % LINE_EVERY === 0) screen.say(progress(this.#sold));
    }
  }

  #draw(): void {
    screen.show([progress(this.#sold)]);
  }
}

function progress(sold: number): string {
  const count = `${sold} of ${ITEMS} sold`;
  return screen.isLive ? `${screen.bar(sold, ITEMS, BAR_CELLS)} ${count}` : count;
}
