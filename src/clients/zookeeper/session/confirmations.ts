/**
 * What is known of the session at the leader, which alone ends it.
 *
 * A follower answers reads and pings by itself, even after it was cut off, so they prove nothing. A
 * committed write proves that the leader had the session at some time after it was sent. A `sync`
 * is weaker: a deposed leader answers it until it notices.
 *
 * But the leader does not count the session's life from a write that came through a follower. It
 * counts from the follower's last report of the sessions it has heard of, which is its reply to the
 * leader's own ping, twice in a tick. So a session can end earlier than one timeout after a
 * confirmed write. `touchedAt` is when it was surely heard of: an activity (even a ping) sent at
 * `a` was reported if a write was sent half a tick after the reply to `a` (the leader's ping lies
 * before that write's commit, in the one stream from the leader to the follower), and another write
 * was sent after the reply to that one (it lies behind the follower's report, on its way back).
 * The session lives at least until `touchedAt` plus its timeout. The tick is at most half of the
 * timeout: ZooKeeper's own rule for the timeouts it negotiates, unless it was configured otherwise.
 * When a new connection's server takes a session over, it reports that to the leader at once.
 */
export class Confirmations {
  readonly #halfTickMs: number;
  /** Activities, oldest first, and when the reply came to a write sent half a tick later. */
  #activities: { readonly sentAt: number; readonly answeredAt: number; followedAt?: number }[] = [];
  touchedAt: number;

  /** For a session of this length, whose first request was sent at `sentAt`. */
  constructor(timeoutMs: number, sentAt: number) {
    this.#halfTickMs = timeoutMs / 4;
    this.touchedAt = sentAt;
  }

  /** A connection's first reply. Requests over the previous one prove nothing any more. */
  connected(sentAt: number): void {
    this.#activities = [];
    this.touchedAt = Math.max(this.touchedAt, sentAt);
  }

  /** Any reply, even a follower's own. */
  answered(sentAt: number, answeredAt: number): void {
    // Keeps one activity per sixteenth of a tick.
    const newest = this.#activities.at(-1);
    if (newest && sentAt < newest.sentAt + this.#halfTickMs / 8) return;
    this.#activities.push({ sentAt, answeredAt });
  }

  /** The leader committed or refused a write. */
  committed(sentAt: number, answeredAt: number): void {
    const reported = this.#activities.findLastIndex(
      ({ followedAt = sentAt + 1 }) => followedAt <= sentAt,
    );
    const last = this.#activities.splice(0, reported + 1).at(-1);
    if (last) this.touchedAt = Math.max(this.touchedAt, last.sentAt);
    for (const each of this.#activities) {
      if (sentAt >= each.answeredAt + this.#halfTickMs) each.followedAt ??= answeredAt;
    }
    this.answered(sentAt, answeredAt);
  }
}
