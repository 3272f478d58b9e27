/** Counts how often a client waits for its server: a proxy that sees who speaks after whom. */
import { connect, createServer, type Server } from 'node:net';
import { freePort, giveBack } from '../../servers/ports.ts';

export class Turns {
  readonly port: number;
  /** How often the server spoke after a client had. */
  count = 0;
  readonly #listener: Server;

  static async before(target: number): Promise<Turns> {
    const turns = new Turns(await freePort(), target);
    await new Promise<void>((resolve) => {
      turns.#listener.listen(turns.port, '127.0.0.1', resolve);
    });
    return turns;
  }

  private constructor(port: number, target: number) {
    this.port = port;
    this.#listener = createServer({ noDelay: true }, (client) => {
      const server = connect({ port: target, host: '127.0.0.1', noDelay: true });
      let asked = false;
      client.on('data', (bytes) => {
        asked = true;
        server.write(bytes);
      });
      server.on('data', (bytes) => {
        if (asked) this.count++;
        asked = false;
        client.write(bytes);
      });
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        from.on('error', () => {});
        from.once('close', () => to.destroy());
      }
    });
  }

  close(): void {
    this.#listener.close();
    giveBack(this.port);
  }
}
