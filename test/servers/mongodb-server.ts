/** A real MongoDB: a replica set of one, as locks need it. */
import { MongoClient } from 'mongodb';
import { until } from '../support/until.ts';
import { freePort } from './ports.ts';
import { type Command, findProgram } from './programs.ts';
import { LocalServer, ServerProcess } from './server-process.ts';

export class MongodbServer extends LocalServer {
  readonly port: number;
  readonly #program: Command;

  static async start(): Promise<MongodbServer> {
    const server = new MongodbServer(await findProgram('mongodb'), await freePort());
    try {
      await server.start();
      await server.#initiate();
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  private constructor(program: Command, port: number) {
    super(new ServerProcess('mongodb', { refusesRoot: false }));
    this.#program = program;
    this.port = port;
  }

  /** Asks this server alone, wherever its set takes itself to be: also through a proxy. */
  urlAt(port: number = this.port): string {
    return `mongodb://${this.host}:${port}/?directConnection=true`;
  }

  get url(): string {
    return this.urlAt();
  }

  async start(): Promise<void> {
    const [program, ...args] = this.#program;
    const options = ['--replSet', 'alone', '--bind_ip', this.host, '--port', `${this.port}`];
    const places = ['--dbpath', this.folder, '--nounixsocket', '--wiredTigerCacheSizeGB', '0.25'];
    const command = [program, ...args, ...options, ...places];
    await this.process.start(command, process.env, () =>
      this.#ask((client) =>
        client
          .db('admin')
          .command({ ping: 1 })
          .then(() => true),
      ),
    );
  }

  async #initiate(): Promise<void> {
    const members = [{ _id: 0, host: `${this.host}:${this.port}` }];
    await this.#ask((client) =>
      client.db('admin').command({ replSetInitiate: { _id: 'alone', members } }),
    );
    await until('the primary', () =>
      this.#ask(async (client) => (await client.db('admin').command({ isMaster: 1 })).ismaster),
    );
  }

  async #ask<T>(question: (client: MongoClient) => Promise<T>): Promise<T> {
    const client = new MongoClient(this.url, { serverSelectionTimeoutMS: 1000 });
    try {
      return await question(client);
    } finally {
      await client.close();
    }
  }
}
