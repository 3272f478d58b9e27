/** Why there is no connection: by an error's code or, without one, by words of its message. */

export interface Meaning {
  readonly retryable: boolean;
  /** Continues "The … server". */
  readonly advice: string;
  /** The server has said nothing, so it may be of another kind (opening.ts). */
  readonly mute?: boolean;
}

/** What a server's error means, where it may be unclear whether anything was done. */
export interface ErrorMeaning extends Meaning {
  readonly outcome: 'failed' | 'unknown';
}

/** Whether trying again helps. `mute`: it may, and the server has said nothing. */
export type Breaks = readonly (readonly [
  sign: RegExp,
  retry: 'later' | 'never' | 'mute',
  advice: string,
])[];

const UNREACHED = /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout/i;
const NO_TLS = /wrong.version.number|packet.length.too.long/i;
const TLS = /ERR_SSL|ERR_TLS|CERT|certificate|self.signed|EPROTO|\bSSL\b|_NO_SSL|tlsv1/i;

/** In any protocol. */
const BREAKS: Breaks = [
  [/ECONNREFUSED/, 'later', 'is not running: nothing listens at that address'],
  [/ENOENT/, 'later', 'is not running: its socket file is missing'],
  [/ENOTFOUND|EAI_AGAIN/, 'later', 'could not be found: its host name is not known'],
  [UNREACHED, 'mute', 'cannot be reached. Look at the network and at firewalls'],
  [NO_TLS, 'never', 'does not speak TLS at this port, and the client does'],
  [TLS, 'never', "and the client do not agree on TLS. Check the client's options for it"],
];
const BROKEN = [/^/, 'mute', 'broke the connection'] as const;

/** `own` are signs of this protocol. */
export function breakOf(said: string, own: Breaks = []): Meaning {
  const [, retry, advice] = [...own, ...BREAKS].find(([sign]) => sign.test(said)) ?? BROKEN;
  return { retryable: retry !== 'never', advice, mute: retry === 'mute' };
}
