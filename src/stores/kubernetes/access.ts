/** The API server's address and credentials: given, or as every pod has them. */
import { readFile } from 'node:fs/promises';
import { UsageError } from '../../base/errors.ts';
import { checkOptions, text } from '../../base/options.ts';
import { HttpClient } from '../../clients/http/client.ts';

export interface KubernetesOptions {
  /** The API server's address; default: that of the cluster in which this program runs. */
  readonly url?: string;
  /** Whose leases they are; default: the namespace of the pod, else `default`. */
  readonly namespace?: string;
  /** A bearer token, or what returns the current one; default: the pod's, without `url`. */
  readonly token?: string | (() => string | Promise<string>);
  /** The authority to trust, in PEM; default: the cluster's, without `url`. */
  readonly ca?: string;
}

export interface Access {
  readonly client: HttpClient;
  readonly namespace: string;
  /** The path of the namespace's leases. */
  readonly path: string;
  headers(): Promise<Readonly<Record<string, string>>>;
}

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The cluster changes a pod's token from time to time; it is read again after this, in ms. */
const TOKEN_MS = 60_000;

const CHECKS = {
  url: text,
  namespace: text,
  ca: text,
  token(given: KubernetesOptions['token']) {
    if (['undefined', 'string', 'function'].includes(typeof given)) return given;
    throw new UsageError('token must be text, or a function that returns it.');
  },
};

/** Checks what is given; what it returns reads what the cluster gives a pod. */
export function accessFrom(options: KubernetesOptions, what: string): () => Promise<Access> {
  const { url: given, token, ca, ...rest } = checkOptions(options, CHECKS, what);
  const pod = given === undefined;
  const address = given ?? inCluster(what);
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw new UsageError("url must be the API server's, such as 'https://10.0.0.1:6443'.");
  }
  const read = (name: string): Promise<string> => readFile(`${FOLDER}/${name}`, 'utf8');
  return async () => {
    const own = pod ? remembered(() => read('token')) : undefined;
    const current = typeof token === 'string' ? () => token : (token ?? own);
    const namespace = rest.namespace ?? (pod ? (await read('namespace')).trim() : 'default');
    const url = new URL(address);
    return {
      client: new HttpClient({ url, ca: ca ?? (pod ? await read('ca.crt') : undefined) }),
      namespace,
      path: `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`,
      async headers() {
        if (!current) return {};
        return { authorization: `Bearer ${(await current()).trim()}` };
      },
    };
  };
}

function inCluster(what: string): string {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  if (host) return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const message = `This program does not run in a cluster of Kubernetes: ${what} needs url`;
  throw new UsageError(`${message}, and what the API server asks for: token and ca.`);
}

function remembered(read: () => Promise<string>): () => Promise<string> {
  let last: { readonly at: number; readonly text: string } | undefined;
  return async () => {
    const at = performance.now();
    if (!last || at - last.at > TOKEN_MS) last = { at, text: await read() };
    return last.text;
  };
}
