/** Builds the API server of Kubernetes for its tests, which are skipped without it. */
import { buildKubeApiserver } from '../test/servers/kubernetes-program.ts';

await buildKubeApiserver().catch((error: Error) => {
  console.log(`no API server of Kubernetes: ${error.message.split('\n', 1)}`);
});
