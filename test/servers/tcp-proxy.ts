/**
 * A TCP proxy that does what networks do, in both directions or one: it lets bytes pass, at once or
 * late; holds them back, to arrive after all, as a partition does that heals; or swallows them, and
 * the end of the connection with them, as a path does whose other end is gone.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort, giveBack } from './ports.ts';
import { reset } from './reset.ts';

export interface Faults {
  readonly flow?: 'pass' | 'hold' | 'swallow';
  readonly delayMs?: number;
  /** Resets the connection that carries the last of so many bytes, once. */
  readonly cutAfter?: number;
  /** Which connections they are for; default: all. */
  readonly on?: 'marked' | 'others';
}

const HOST = '127.0.0.1';

export class TcpProxy {
  readonly host: string = HOST;
  readonly port: number;
  readonly toServer: Direction = new Direction();
  readonly toClient: Direction = new Direction();
  /** How often the server spoke after a client had. */
  turns = 0;
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();
  readonly #mark: string | undefined;
  #target: number;

  /** In front of a port on loopback. A connection is marked once its client has sent `mark`. */
  static async start(target: number, mark?: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(await freePort(), target, mark);
    await proxy.accept();
    return proxy;
  }

  private constructor(port: number, target: number, mark: string | undefined) {
    this.port = port;
    this.#target = target;
    this.#mark = mark;
    const options = { allowHalfOpen: true, noDelay: true };
    this.#listener = createServer(options, (client) => {
      this.#join(client, connect({ ...options, port: this.#target, host: HOST }));
    });
    this.#listener.unref();
  }

  /** Faults in both directions, or none. */
  set(faults: Faults = {}): void {
    this.toServer.set(faults);
    this.toClient.set(faults);
  }

  /** New connections lead there, as with an address that moves; the others stay. */
  lead(target: number): void {
    this.#target = target;
  }

  /** Refuses new connections; the others stay. */
  refuse(): void {
    this.#listener.close();
  }

  /** Accepts connections again. */
  async accept(): Promise<void> {
    await once(this.#listener.listen(this.port, HOST), 'listening');
  }

  /** Resets all connections at both ends. */
  reset(): void {
    for (const socket of this.#sockets) reset(socket);
  }

  /** Ends all connections at the server, of which the clients hear nothing; new ones are sound. */
  halfOpen(): void {
    this.toServer.forsake();
    for (const server of this.toClient.forsake()) server.destroy();
  }

  close(): void {
    this.#listener.close();
    this.reset();
    giveBack(this.port);
  }

  #join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.unref();
      // Its close, which follows, is what matters.
      socket.on('error', () => {});
      socket.once('close', () => this.#sockets.delete(socket));
    }
    const connection: Connection = { marked: false };
    let asked = false;
    server.on('data', () => {
      if (asked) this.turns++;
      asked = false;
    });
    client.on('data', (bytes) => {
      asked = true;
      if (this.#mark !== undefined) connection.marked ||= bytes.includes(this.#mark);
    });
    this.toServer.carry({ connection, from: client, to: server });
    this.toClient.carry({ connection, from: server, to: client });
  }
}

type Connection = { marked: boolean };

type Ends = { readonly connection: Connection; readonly from: Socket; readonly to: Socket };

/** One direction of all connections. */
class Direction {
  /** How many bytes have reached the proxy, whatever became of them. */
  reached = 0;
  faults: Faults = {};
  readonly #lanes = new Set<Lane>();

  /** What is not named is sound. */
  set(faults: Faults = {}): void {
    this.faults = faults;
    for (const lane of this.#lanes) lane.move();
  }

  carry(ends: Ends): void {
    const lane = new Lane(this, ends);
    this.#lanes.add(lane);
    ends.to.once('close', () => this.#lanes.delete(lane));
  }

  /** Loses what the connections there are bring from now on; answers where they bring it from. */
  forsake(): Socket[] {
    return [...this.#lanes].map((lane) => lane.forsake());
  }
}

type Load = Buffer | 'end' | 'reset';

/** One direction of one connection. */
class Lane {
  readonly #direction: Direction;
  readonly #connection: Connection;
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #loads: { readonly load: Load; readonly due: number }[] = [];
  #forsaken = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(direction: Direction, { connection, from, to }: Ends) {
    this.#direction = direction;
    this.#connection = connection;
    this.#from = from;
    this.#to = to;
    from.on('data', (bytes) => {
      direction.reached += bytes.length;
      this.#take(bytes);
    });
    from.once('end', () => this.#take('end'));
    from.once('close', () => {
      if (!from.readableEnded) this.#take('reset');
    });
  }

  forsake(): Socket {
    this.#forsaken = true;
    return this.#from;
  }

  /** Brings across what may cross now. */
  move(): void {
    clearTimeout(this.#timer);
    for (;;) {
      const { flow } = this.#faults;
      const [next] = this.#loads;
      if (next === undefined || flow === 'hold') return;
      const lost = flow === 'swallow' || this.#forsaken;
      const earlyMs = next.due - performance.now();
      if (!lost && earlyMs > 0) {
        this.#timer = setTimeout(() => this.move(), earlyMs).unref();
        return;
      }
      this.#loads.shift();
      if (!lost) this.#deliver(next.load);
    }
  }

  /** As far as they are for this connection. */
  get #faults(): Faults {
    const { faults } = this.#direction;
    const own = this.#connection.marked ? 'marked' : 'others';
    return (faults.on ?? own) === own ? faults : {};
  }

  #take(load: Load): void {
    const { delayMs = 0 } = this.#faults;
    this.#loads.push({ load, due: performance.now() + delayMs });
    this.move();
  }

  #deliver(load: Load): void {
    if (load === 'end') this.#to.end();
    else if (load === 'reset') reset(this.#to);
    else this.#write(load);
  }

  #write(bytes: Buffer): void {
    const { cutAfter, ...others } = this.#faults;
    if (cutAfter === undefined) {
      this.#to.write(bytes);
    } else if (bytes.length < cutAfter) {
      this.#direction.faults = { ...others, cutAfter: cutAfter - bytes.length };
      this.#to.write(bytes);
    } else {
      this.#direction.faults = others;
      this.#to.write(bytes.subarray(0, cutAfter), () => {
        reset(this.#to);
        reset(this.#from);
      });
    }
  }
}
