/**
 * What stands before a member of an etcd cluster, where its peers find it. It knows who comes,
 * because they say so in the head of each connection's first request, and lets everybody in but
 * those who are cut off from this member.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort, giveBack } from './ports.ts';

const HOST = '127.0.0.1';
const FROM = /^X-Server-From: ([0-9a-f]+)\r$/im;

export class PeerGate {
  readonly port: number;
  readonly #target: number;
  readonly #listener: Server;
  readonly #open = new Map<Socket, string | undefined>();
  #refused: (from: string) => boolean = () => false;

  /** In front of a port on loopback. */
  static async start(target: number): Promise<PeerGate> {
    const gate = new PeerGate(await freePort(), target);
    await once(gate.#listener.listen(gate.port, HOST), 'listening');
    return gate;
  }

  private constructor(port: number, target: number) {
    this.port = port;
    this.#target = target;
    this.#listener = createServer({ noDelay: true }, (socket) => this.#meet(socket));
    this.#listener.unref();
  }

  get url(): string {
    return `http://${HOST}:${this.port}`;
  }

  /** Ends the connections of these members, named by their ids, and takes no more of them. */
  refuse(refused: (from: string) => boolean): void {
    this.#refused = refused;
    for (const [socket, from] of this.#open) {
      if (from !== undefined && refused(from)) socket.destroy();
    }
  }

  close(): void {
    this.#listener.close();
    for (const socket of this.#open.keys()) socket.destroy();
    giveBack(this.port);
  }

  #meet(socket: Socket): void {
    this.#open.set(socket, undefined);
    socket.unref();
    // Its close, which follows, is what matters.
    socket.on('error', () => {});
    socket.once('close', () => this.#open.delete(socket));
    let head = Buffer.alloc(0);
    const hear = (bytes: Buffer): void => {
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', hear).pause();
      const [, from] = FROM.exec(head.toString('latin1', 0, end + 1)) ?? [];
      this.#pass(socket, from, head);
    };
    socket.on('data', hear);
  }

  #pass(socket: Socket, from: string | undefined, head: Buffer): void {
    this.#open.set(socket, from);
    if (from !== undefined && this.#refused(from)) {
      socket.destroy();
      return;
    }
    const onward = connect({ port: this.#target, host: HOST, noDelay: true });
    onward.unref();
    onward.on('error', () => {});
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
    onward.write(head);
    onward.pipe(socket);
    socket.pipe(onward);
  }
}
