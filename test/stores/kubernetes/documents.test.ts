/** Documents as leases of a real API server, by a user who may do no more than is needed. */
import { expect, test } from 'vitest';
import { kubernetesDocuments } from '../../../src/stores/kubernetes/documents.ts';
import { leaseName } from '../../../src/stores/kubernetes/lease.ts';
import { examined } from '../../cli/examined.ts';
import { KubernetesServer, missingKubernetes, TOKEN } from '../../servers/kubernetes-server.ts';
import { until } from '../../support/until.ts';
import { cutting, documentsTests, sharedServer, watchesGoOn } from '../document/service.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const API = { apiGroup: 'rbac.authorization.k8s.io' };
const ROLE = {
  metadata: { name: 'locks' },
  rules: [
    {
      ...{ apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
      verbs: ['get', 'create', 'update', 'list', 'watch', 'delete'],
    },
  ],
};
const BINDING = {
  metadata: { name: 'locks' },
  roleRef: { ...API, kind: 'Role', name: 'locks' },
  subjects: [{ ...API, kind: 'User', name: 'locks' }],
};

const shared = sharedServer(await missingKubernetes(), async () => {
  const server = await KubernetesServer.start();
  await until('permitted', async () => {
    const made = [await server.ask(`${RBAC}/roles`, ROLE)];
    made.push(await server.ask(`${RBAC}/rolebindings`, BINDING));
    const { url, ca } = server;
    await kubernetesDocuments({ url, ca, token: TOKEN }).get('permitted');
    return made.every(({ status }) => status === 201 || status === 409);
  });
  return server;
});

const documents = (url = shared().url, token = TOKEN) =>
  kubernetesDocuments({ url, ca: shared().ca, token });

documentsTests({
  create: () => documents(),
  has: ['remove', 'list', 'watch', 'nowMs'],
  losing: cutting(
    () => shared().port,
    (port) => documents(`https://127.0.0.1:${port}`),
    // A new connection is agreed on first: those replies are not to be lost.
    (through) => through.get('agreed'),
  ),
});

test('people see who holds', async () => {
  const { url, ca } = shared();
  const shown = kubernetesDocuments({ url, ca, token: () => TOKEN }, (text) => `by ${text}`);
  await shown.put('Orders of today', 'me', undefined);
  const name = leaseName('Orders of today');
  expect(name).toMatch(/^orders-of-today-[0-9a-f]{32}$/);
  const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
  const { spec } = JSON.parse((await shared().ask(path)).text);
  expect(spec).toMatchObject({ holderIdentity: 'by me' });
  await shown.close?.();
});

watchesGoOn(documents, () => shared().restart());

test('what may not be done, and what is too long, is refused', async () => {
  const failed = { code: 'STORE', retryable: false, outcome: 'failed' };
  await expect(documents(undefined, 'nobody').get('a')).rejects.toMatchObject(failed);
  const { url, ca } = shared();
  const other = kubernetesDocuments({ url, ca, token: TOKEN, namespace: 'kube-system' });
  await expect(other.put('a', '1', undefined)).rejects.toMatchObject(failed);
  const long = documents().put('a', 'x'.repeat(256 * 1024), undefined);
  await expect(long).rejects.toMatchObject({ code: 'USAGE' });
});

test('outside of a cluster it has to be told where the API server is', () => {
  expect(() => kubernetesDocuments()).toThrow(/needs url/);
  expect(() => kubernetesDocuments({ url: 'cluster' })).toThrow(/url must be/);
});

test('the doctor asks the API server for its version and its clock', async () => {
  const { url, caFile } = shared();
  const query = new URLSearchParams({ url, token: TOKEN, namespace: 'default' });
  const found = await examined(`kubernetes:?${query}`, { NODE_EXTRA_CA_CERTS: caFile });
  expect(found.server?.says).toMatch(/^Kubernetes v\S+, leases in the namespace default$/);
});
