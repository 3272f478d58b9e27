/** Proves an identity of the session: mostly `digest` with `user:password`. */
export interface Auth {
  readonly scheme: string;
  readonly auth: string | Uint8Array;
}

/** Grants rights: `perms` is a sum of 1 read, 2 write, 4 create, 8 delete, 16 administer. */
export interface Acl {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}
