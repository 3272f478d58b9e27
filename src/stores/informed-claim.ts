/** The last news that a claim had of its place in the queue. */

/** In the order in which they come; a lone holder is woken again when the first waiter comes. */
const NEWS = ['waiting', 'first', 'held', 'crowded'] as const;
type News = (typeof NEWS)[number];

export abstract class InformedClaim {
  #told: News | undefined;

  get news(): News | undefined {
    return this.#told;
  }

  get held(): boolean {
    return this.#told === 'held' || this.#told === 'crowded';
  }

  get crowded(): boolean {
    return this.#told === 'crowded';
  }

  /** Keeps the news; true if the claim should be woken for it. */
  learn(news: News): boolean {
    const before = this.#told === undefined ? -1 : NEWS.indexOf(this.#told);
    this.#told = news;
    return NEWS.indexOf(news) > before;
  }
}
