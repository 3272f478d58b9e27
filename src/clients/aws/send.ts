/** Requests through the user's AWS client, with the clock that its replies show. */
import { UnsupportedError } from '../../contract/errors.ts';
import { timeIn } from '../http/fate.ts';

/** `DynamoDBClient`, `S3Client` and their like, of the SDK for JavaScript 3. */
export interface AwsClient {
  send(...command: never[]): unknown;
}

/** A command of the SDK, whose types say what the client returns for it. */
interface AwsCommand<Output> {
  resolveMiddleware(...client: never[]): (args: never) => Promise<{ readonly output: Output }>;
}

interface Middleware {
  readonly middlewareStack: {
    add(middleware: (next: Next) => Next, place: { step: 'deserialize'; priority: 'low' }): void;
  };
}

type Next = (args: never) => Promise<{ readonly response?: unknown }>;

interface Timed {
  /** The `Date` of the reply, in epoch ms. */
  readonly nowMs?: number;
}

export async function sendTimed<Output>(
  client: AwsClient,
  command: AwsCommand<Output>,
): Promise<Timed & { readonly output: Output }> {
  let timed: Timed = {};
  // The last before the connection: it sees each reply as it came.
  const look = (next: Next): Next => {
    return async (args) => {
      const result = await next(args);
      timed = timeOf(result.response);
      return result;
    };
  };
  const { middlewareStack } = command as unknown as Middleware;
  middlewareStack.add(look, { step: 'deserialize', priority: 'low' });
  const output = (await client.send(command as never)) as Output;
  return { output, ...timed };
}

/** The time in the reply in which the client found this error. */
export function timeOfError(error: unknown): Timed {
  return timeOf((error as { readonly $response?: unknown } | undefined)?.$response);
}

function timeOf(response: unknown): Timed {
  const { headers } = (response ?? {}) as { readonly headers?: Readonly<Record<string, string>> };
  return timeIn(headers);
}

export function notInstalled(name: string): (cause: unknown) => never {
  return (cause) => {
    const message = `The package ${name} is needed, and not installed.`;
    throw Object.assign(new UnsupportedError('client', message), { cause });
  };
}
