/** DynamoDB Local: Amazon's own server for tests, which keeps its tables in memory or in files. */
import { join } from 'node:path';
import { type JavaProgram, javaProgram } from './maven.ts';
import { freePort } from './ports.ts';
import { LocalServer, started } from './server-process.ts';

const LOCAL = { group: 'com.amazonaws', name: 'DynamoDBLocal', version: '2.6.1' };
const MAIN = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner';
/** It compiles quickly rather than well: most of its life it starts. */
const QUICK = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

export interface DynamodbServerOptions {
  /** Its tables outlive a restart. Default: false. */
  readonly keepsData?: boolean;
}

export class DynamodbServer extends LocalServer {
  readonly #jars: string;
  readonly #keepsData: boolean;

  static async start({ keepsData = false }: DynamodbServerOptions = {}): Promise<DynamodbServer> {
    const server = new DynamodbServer(await javaProgram(LOCAL), await freePort(), keepsData);
    return started(server, () => server.start());
  }

  private constructor({ java, jars }: JavaProgram, port: number, keepsData: boolean) {
    super({ name: 'dynamodb', program: java, ports: [port] });
    this.#jars = jars;
    this.#keepsData = keepsData;
  }

  protected get args(): string[] {
    const folders = [`-Djava.library.path=${this.#jars}`, `-Djava.io.tmpdir=${this.folder}`];
    const options = [...QUICK, ...folders, '-cp', join(this.#jars, '*'), MAIN];
    const data = this.#keepsData ? ['-dbPath', this.folder] : ['-inMemory'];
    return [...options, ...data, '-port', `${this.port}`];
  }

  /** It refuses what is not signed, but it is there. */
  protected async answers(): Promise<boolean> {
    return (await fetch(this.url)).status === 400;
  }
}

/** Why its tests have to be skipped, if they have to. */
export function missingDynamodb(): Promise<string | undefined> {
  const why = (error: Error): string => `not promised: DynamoDB Local: ${error.message}`;
  return javaProgram(LOCAL).then(() => undefined, why);
}
