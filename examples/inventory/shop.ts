/** What a shop can do; it is in a SQLite file (sqlite-shop.ts) or on a server (server-shop.ts). */
import type { Lease } from 'holdfast';

export const WAYS = ['no lock', 'row lock', 'version', 'mutex', 'mutex + fence'] as const;
export type Way = (typeof WAYS)[number];

/** What happens between the read and the write: the card is charged, the warehouse is asked. */
export type Think = () => Promise<void>;

export interface Shop {
  /** What a sale leaves behind is nothing but a smaller number. */
  read(lease?: Lease): Promise<number>;
  /** With a lease, through the fence. */
  write(left: number, lease?: Lease): Promise<void>;
  /** Sells one under a lock of the database; false if there is nothing left. */
  sellLocked(think: Think): Promise<boolean>;
  /** Sells one if no other seller has written meanwhile, else tries again. */
  sellVersioned(think: Think): Promise<boolean>;
  /** Makes the table if there is none. */
  fill(items: number): Promise<void>;
  /** For ever: a table on a server is removed, too. */
  close(options?: { readonly forEver: boolean }): Promise<void>;
}

/** A database that has row locks keeps the stock, too; else it is in a file. */
export async function openShop(store: string, file: string): Promise<Shop> {
  if (/^(postgres(ql)?|mysql|mariadb):/.test(store)) {
    const { openServerShop } = await import('./server-shop.ts');
    return await openServerShop(store);
  }
  const { openSqliteShop } = await import('./sqlite-shop.ts');
  return await openSqliteShop(file);
}
