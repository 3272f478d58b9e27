type Closable = { close?(): unknown };

/** What ends with a test: first whoever uses servers, then the servers. */
export class Lifetime implements AsyncDisposable {
  readonly #servers: Closable[] = [];
  readonly #users: Closable[] = [];

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
    await Promise.all(this.#servers.splice(0).map((server) => server.close?.()));
  }

  /** Stores and locks close, those that came last first; servers go on. */
  async leave(): Promise<void> {
    for (const user of this.#users.splice(0).reverse()) await user.close?.();
  }

  /** Closes it with the test: a server, or what stands before one. */
  serve<T extends Closable>(server: T): T {
    this.#servers.push(server);
    return server;
  }

  /** Closes it before the servers. */
  use<T extends Closable>(user: T): T {
    this.#users.push(user);
    return user;
  }
}
