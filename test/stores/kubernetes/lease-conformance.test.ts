/** The conformance suite on leases of client-go; without a queue, much of it is not promised. */
import { leaseLockStore } from 'holdfast/kubernetes';
import { KubernetesServer, missingKubernetes } from '../../servers/kubernetes-server.ts';
import { documentConformance } from '../document/conformance.ts';

documentConformance({
  why: await missingKubernetes(),
  start: () => KubernetesServer.start(),
  store: ({ url, ca, admin: token }) => leaseLockStore({ url, ca, token, retry: 50 }),
  traits: leaseLockStore({ url: 'http://unused' }).traits,
  lacks: ['watch', 'downgrade', 'raise', 'evict', 'list', 'keep', 'recall', 'handOver'],
  whole: true,
});
