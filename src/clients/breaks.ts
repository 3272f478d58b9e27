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

export type Breaks = readonly (readonly [sign: RegExp, Meaning])[];

const MUTE = { retryable: true, mute: true } as const;

/** In any protocol. */
const BREAKS: Breaks = [
  [/ECONNREFUSED/, { retryable: true, advice: 'is not running: nothing listens at that address' }],
  [/ENOENT/, { retryable: true, advice: 'is not running: its socket file is missing' }],
  [
    /ENOTFOUND|EAI_AGAIN/,
    { retryable: true, advice: 'could not be found: its host name is not known' },
  ],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout/i,
    { ...MUTE, advice: 'cannot be reached. Look at the network and at firewalls' },
  ],
  [
    /wrong.version.number|packet.length.too.long/i,
    { retryable: false, advice: 'does not speak TLS at this port, and the client does' },
  ],
  [
    /ERR_SSL|ERR_TLS|CERT|certificate|self.signed|EPROTO|\bSSL\b|_NO_SSL|tlsv1/i,
    {
      retryable: false,
      advice: "and the client do not agree on TLS. Check the client's options for it",
    },
  ],
];

const BROKEN: Meaning = { ...MUTE, advice: 'broke the connection' };

/** `own` are signs of this protocol. */
export function breakOf(said: string, own: Breaks = []): Meaning {
  return [...own, ...BREAKS].find(([sign]) => sign.test(said))?.[1] ?? BROKEN;
}
