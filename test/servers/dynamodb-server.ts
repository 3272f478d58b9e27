/** DynamoDB Local: Amazon's own server for tests, which keeps its tables in memory or in files. */
import { join } from 'node:path';
import { type JavaProgram, javaProgram } from './maven.ts';
import { freePort } from './ports.ts';
import { LocalServer, ServerProcess } from './server-process.ts';

const LOCAL = { group: 'com.amazonaws', name: 'DynamoDBLocal', version: '2.6.1' };
const MAIN = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner';

export interface DynamodbServerOptions {
  /** Its tables outlive a restart. Default: false. */
  readonly keepsData?: boolean;
}

export class DynamodbServer extends LocalServer {
  readonly port: number;
  readonly #program: JavaProgram;
  readonly #keepsData: boolean;

  static async start({ keepsData = false }: DynamodbServerOptions = {}): Promise<DynamodbServer> {
    const server = new DynamodbServer(await javaProgram(LOCAL), await freePort(), keepsData);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  private constructor(program: JavaProgram, port: number, keepsData: boolean) {
    super(new ServerProcess('dynamodb', { refusesRoot: false }));
    this.#program = program;
    this.port = port;
    this.#keepsData = keepsData;
  }

  get url(): string {
    return `http://${this.host}:${this.port}`;
  }

  async start(): Promise<void> {
    const { java, jars } = this.#program;
    const [program, ...args] = java;
    // It compiles quickly rather than well: most of its life it starts.
    const quick = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
    const folders = [`-Djava.library.path=${jars}`, `-Djava.io.tmpdir=${this.folder}`];
    const options = [...quick, ...folders, '-cp', join(jars, '*'), MAIN];
    const data = this.#keepsData ? ['-dbPath', this.folder] : ['-inMemory'];
    const command = [program, ...args, ...options, ...data, '-port', `${this.port}`];
    // It refuses what is not signed, but it is there.
    const answers = async (): Promise<boolean> => (await fetch(this.url)).status === 400;
    await this.process.start(command, process.env, answers);
  }
}

/** Why its tests have to be skipped, if they have to. */
export function missingDynamodb(): Promise<string | undefined> {
  const why = (error: Error): string => `not promised: DynamoDB Local: ${error.message}`;
  return javaProgram(LOCAL).then(() => undefined, why);
}
