/** What a claim was last told of its place in the queue. */

/** In the order in which they come; somebody who holds alone and then not is told again. */
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

  /** Keeps the news; true if they are worth waking somebody for. */
  learn(news: News): boolean {
    const before = this.#told === undefined ? -1 : NEWS.indexOf(this.#told);
    this.#told = news;
    return NEWS.indexOf(news) > before;
  }
}
