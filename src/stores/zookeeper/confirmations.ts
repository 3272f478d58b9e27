/**
 * What is known of the session at the leader, who alone ends it.
 *
 * A follower answers reads and pings by itself, also when it has been cut off, so they prove
 * nothing. A committed write proves that the leader had the session at some time after it was sent:
 * `confirmedAt`. A `sync` is weaker: a leader that has been deposed answers it until it notices.
 *
 * But the leader does not count the session's life from a write that came through a follower. It
 * counts from when the follower last told it which sessions it has heard of, in answer to the
 * leader's own ping, twice in a tick. So a session can end earlier than one timeout after a
 * confirmed write. `touchedAt` is when it was surely heard of: an activity, be it a ping, sent at
 * `a` was told if a write was sent half a tick after `a` was answered (the leader's ping lies
 * before that write's commit, in the one stream from the leader to the follower), and another write
 * was sent after that one's answer (it lies behind what the follower told, on its way back).
 * The session lives until `touchedAt` and its timeout, at least. The tick is at most half of the
 * timeout, which is ZooKeeper's own rule for what it negotiates unless it was configured otherwise.
 * Being taken over by a server, at a connection's beginning, is told to the leader at once.
 */
export class Confirmations {
  readonly #halfTickMs: number;
  /** Activities, oldest first, and when a write that came half a tick later was answered. */
  #untold: { readonly sentAt: number; readonly answeredAt: number; followedAt?: number }[] = [];
  confirmedAt: number;
  touchedAt: number;

  /** Of a session of this length, whose connection began with a request sent then. */
  constructor(timeoutMs: number, sentAt: number) {
    this.#halfTickMs = timeoutMs / 4;
    this.confirmedAt = sentAt;
    this.touchedAt = sentAt;
  }

  /** A connection's first answer. What was sent over the one before proves nothing any more. */
  connected(sentAt: number): void {
    this.#untold = [];
    this.confirmedAt = Math.max(this.confirmedAt, sentAt);
    this.touchedAt = Math.max(this.touchedAt, sentAt);
  }

  /** Anything was answered, if only by a follower. */
  heard(sentAt: number, answeredAt: number): void {
    // One in a while is enough: among many a few are remembered.
    const newest = this.#untold.at(-1);
    if (newest && sentAt < newest.sentAt + this.#halfTickMs / 8) return;
    this.#untold.push({ sentAt, answeredAt });
  }

  /** A write was committed, or refused by the leader. */
  committed(sentAt: number, answeredAt: number): void {
    this.confirmedAt = Math.max(this.confirmedAt, sentAt);
    const told = this.#untold.findLastIndex(({ followedAt = sentAt + 1 }) => followedAt <= sentAt);
    if (told >= 0) {
      const [last] = this.#untold.splice(0, told + 1).slice(-1);
      this.touchedAt = Math.max(this.touchedAt, last?.sentAt ?? 0);
    }
    for (const each of this.#untold) {
      if (sentAt >= each.answeredAt + this.#halfTickMs) each.followedAt ??= answeredAt;
    }
    this.heard(sentAt, answeredAt);
  }
}
