/**
 * A server that speaks as S3 does: that of moto, which knows conditional writes since 5.1.5. It
 * checks no signatures, but wants one. It compares and writes in two steps, so here it takes its
 * requests in turn.
 */
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { findProgram, folderOf } from './programs.ts';
import { LocalServer, started } from './server-process.ts';

const PROGRAM = `
import sys, threading
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
app, turn = DomainDispatcherApplication(create_backend_app), threading.Lock()
def in_turn(environ, start_response):
    with turn: return list(app(environ, start_response))
run_simple('127.0.0.1', int(sys.argv[1]), in_turn, threaded=True)
`;

const CREDENTIAL = 'Credential=test/20260101/us-east-1/s3/aws4_request';

/** As much of a signature as it looks at. */
export const SIGNED: Readonly<Record<string, string>> = {
  authorization: `AWS4-HMAC-SHA256 ${CREDENTIAL}, SignedHeaders=host, Signature=0`,
};

export class S3Server extends LocalServer {
  static async start(): Promise<S3Server> {
    const program = await findProgram('python');
    const env = {
      // From here it finds its own library, wherever it was unpacked, and no other.
      PYTHONHOME: join(folderOf(program), '..'),
      PYTHONPATH: '',
      // What it has compiled is kept: the next start is quicker.
      PYTHONDONTWRITEBYTECODE: '',
    };
    const server = new S3Server({ name: 's3', program, ports: [await freePort()], env });
    return started(server, () => server.start());
  }

  protected get args(): string[] {
    return ['-c', PROGRAM, `${this.port}`];
  }

  protected async answers(): Promise<boolean> {
    return (await fetch(this.url)).ok;
  }

  /** Its address, with which keys begin. */
  async bucket(name: string): Promise<string> {
    const url = `${this.url}/${name}/`;
    const { ok, status } = await fetch(url, { method: 'PUT', headers: SIGNED });
    if (!ok) throw new Error(`there is no bucket: ${status}`);
    return url;
  }
}
