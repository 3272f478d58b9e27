/** What a seller is told when it starts, later on, and what it reports. */
import type { Takeover } from 'holdfast';
import type { Stage } from '../shared/stage.ts';

export type Protection = 'none' | 'mutex' | 'fence';

export interface SellerPlan {
  readonly name: string;
  readonly shopFile: string;
  readonly stage: Stage;
  readonly protection: Protection;
  readonly ttlMs: number;
  /** How long a seller takes between its read and its write, on average. */
  readonly thinkMs: number;
}

/** `pause`: in your next sale, wait between the read and the write until you are told to go on. */
export type SellerOrder = 'sell' | 'pause' | 'go on';

export type SellerReport =
  | { readonly event: 'ready' }
  | {
      readonly event: 'sold';
      readonly token: bigint | undefined;
      readonly takeover: Takeover['reason'] | undefined;
    }
  /** It has read and not yet written. */
  | { readonly event: 'between'; readonly token: bigint }
  | {
      readonly event: 'refused';
      readonly error: string;
      readonly token: bigint;
      readonly seen: bigint;
    };
