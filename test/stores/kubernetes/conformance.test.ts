import { kubernetesStore } from 'holdfast/kubernetes';
import { KubernetesServer, missingKubernetes } from '../../servers/kubernetes-server.ts';
import { documentConformance } from '../document/conformance.ts';

documentConformance({
  why: await missingKubernetes(),
  start: () => KubernetesServer.start(),
  store: ({ url, ca, admin: token }, options) => kubernetesStore({ url, ca, token, ...options }),
  // Those of the clock, and the second that it counts in.
  slackMs: 3000,
  traits: kubernetesStore({ url: 'http://unused' }).traits,
});
