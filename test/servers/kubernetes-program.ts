/**
 * The API server of Kubernetes, which no registry has as a program: it is built from the modules of
 * its release, with the Go of this machine, which checks them against its checksum database. The
 * build takes some minutes and 3 GB, of which 100 MB stay.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GoPlace, goBuild } from './go-build.ts';
import { PLACES } from './programs.ts';

const VERSION = '1.34.4';
const PROGRAM = 'k8s.io/kubernetes/cmd/kube-apiserver';

/** Modules of the same repository, published beside it. */
const STAGING = [
  ...['api', 'apiextensions-apiserver', 'apimachinery', 'apiserver', 'cli-runtime', 'client-go'],
  ...['cloud-provider', 'cluster-bootstrap', 'code-generator', 'component-base'],
  ...['component-helpers', 'controller-manager', 'cri-api', 'cri-client', 'csi-translation-lib'],
  ...['dynamic-resource-allocation', 'endpointslice', 'externaljwt', 'kms', 'kube-aggregator'],
  ...['kube-controller-manager', 'kube-proxy', 'kube-scheduler', 'kubectl', 'kubelet', 'metrics'],
  ...['mount-utils', 'pod-security-admission', 'sample-apiserver'],
];

const BUILT = join(PLACES.cache, `go+kube-apiserver+${VERSION}`);

/** Where it is, if an earlier run has built it. */
export async function kubeApiserver(): Promise<string> {
  if (existsSync(BUILT)) return BUILT;
  throw new Error(`kube-apiserver ${VERSION} is built by npm run battery, if there is Go 1.24`);
}

/** Builds it, unless it is there. Rejects without Go or a network. */
export async function buildKubeApiserver(place: GoPlace): Promise<void> {
  if (existsSync(BUILT)) return;
  await writeFile(join(place.folder, 'go.mod'), modules());
  await goBuild(place, { source: '.', target: PROGRAM, output: BUILT, resolves: true });
}

function modules(): string {
  const staged = STAGING.map((name) => `k8s.io/${name}`);
  const lines = staged.map((path) => `replace ${path} => ${path} v0.${VERSION.slice(2)}`);
  return ['module servers', 'go 1.24.0', `require k8s.io/kubernetes v${VERSION}`, ...lines].join(
    '\n',
  );
}
