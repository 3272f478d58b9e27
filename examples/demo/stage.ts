/** Where a demo takes place. */
export interface Stage {
  /** For its databases. */
  readonly folder: string;
  /** The URL of the store of its locks. */
  readonly store: string;
  /** Keeps the names of its locks apart from those of other programs. */
  readonly prefix: string;
}
