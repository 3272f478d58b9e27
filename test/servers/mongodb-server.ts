/** A real MongoDB: a replica set of one, as locks need it. */
import { MongoClient } from 'mongodb';
import { until } from '../support/until.ts';
import { freePort } from './ports.ts';
import { findProgram } from './programs.ts';
import { LocalServer, started } from './server-process.ts';

export class MongodbServer extends LocalServer {
  static async start(): Promise<MongodbServer> {
    const program = await findProgram('mongodb');
    const server = new MongodbServer({ name: 'mongodb', program, ports: [await freePort()] });
    return started(server, async () => {
      await server.start();
      await server.#initiate();
    });
  }

  /** Asks this server alone, wherever its set takes itself to be: also through a proxy. */
  urlAt(port: number = this.port): string {
    return `mongodb://${this.host}:${port}/?directConnection=true`;
  }

  override get url(): string {
    return this.urlAt();
  }

  protected get args(): string[] {
    const options = ['--replSet', 'alone', '--bind_ip', this.host, '--port', `${this.port}`];
    const places = ['--dbpath', this.folder, '--nounixsocket', '--wiredTigerCacheSizeGB', '0.25'];
    return [...options, ...places];
  }

  protected answers(): Promise<boolean> {
    return this.#ask(async (client) => Boolean(await client.db('admin').command({ ping: 1 })));
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
