/** The demo: what the processes do is real, and an unexpected outcome fails it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { span } from '../../operators/span.ts';
import { endingOf } from '../command.ts';
import { print } from '../output.ts';
import { untilSignal } from '../process/signals.ts';
import { type Said, TTL_MS } from './actor.ts';
import { serveObjects } from './objects.ts';

/** Resolves with the exit status. */
export async function play(): Promise<number> {
  const interrupt = untilSignal();
  const interrupted = once(interrupt, 'abort');
  const actors: Actor[] = [];
  const end = (): void => {
    for (const actor of actors) actor.kill('SIGKILL');
  };
  // However this process ends; `print` ends it when its reader is gone.
  process.once('exit', end);
  const enters = (name: string): Actor => {
    const actor = startActor(name);
    actors.push(actor);
    return actor;
  };
  const told = Promise.race([tell(enters), interrupted]);
  await Promise.allSettled([told]);
  end();
  await Promise.all(actors.map(({ ended }) => ended));
  // A terminal signals the actors as well, and their end may come first and be the failure.
  if (interrupt.aborted) return endingOf(null, interrupt.reason).status;
  await told;
  return 0;
}

async function tell(enters: (name: string) => Actor): Promise<void> {
  await print(
    `One lamp is left. To sell it, a process must hold a lock, whose TTL is ${span(TTL_MS)}.\n\n`,
  );
  const a = enters('A');
  const first = await a.says();
  await print(`A  gets the lock, with token ${first.token}, and is stopped before it sells.\n`);
  a.kill('SIGSTOP');
  const stoppedAt = performance.now();
  const b = enters('B');
  const second = await b.says();
  await print(`B  gets it ${later(stoppedAt)}, with token ${second.token}.\n`);
  const sale = await b.sells();
  await print(`B  sells the lamp${sale.sold ? '' : ', in vain'}.\n`);
  a.kill('SIGCONT');
  const late = await a.sells();
  const lease = late.held ? 'held' : 'lost';
  await print(`A  goes on. Its lease is ${lease}, but it sells the lamp without checking that.\n`);
  const refused = late.sold ? 'The lamp is sold twice.' : 'The fence refuses: its token is old.';
  await print(`   ${refused}\n`);
  b.kill('SIGKILL');
  const killedAt = performance.now();
  await enters('C').says();
  await print(`B  is killed while it holds the lock. C gets it ${later(killedAt)}.\n`);
  if (!sale.sold || late.sold || late.held) throw new Error('The demo has come out otherwise.');
  await print(
    '\nThe lock kept the processes apart, but only the fence could stop the late write.\n',
  );
}

function later(than: number): string {
  return `${span(performance.now() - than)} later`;
}

type Actor = ReturnType<typeof startActor>;

function startActor(name: string) {
  const args = [...process.execArgv, process.argv[1] as string, 'demo'];
  const env = { ...process.env, HOLDFAST_DEMO_ACTOR: name };
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit', 'ipc'], env });
  serveObjects(child);
  child.once('error', () => {});
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  const says = async (): Promise<Said> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('A process of the demo has ended too early.');
    return JSON.parse(value) as Said;
  };
  const sells = (): Promise<Said> => {
    child.stdin?.write('sell\n');
    return says();
  };
  return { ended, says, sells, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}
