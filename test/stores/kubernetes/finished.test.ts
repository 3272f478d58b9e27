import { openStore } from 'holdfast/connect';
import { test } from 'vitest';
import { allEnd } from '../../methods/processes/finished.ts';
import { KubernetesServer, missingKubernetes } from '../../servers/kubernetes-server.ts';

const why = await missingKubernetes();

test('a program that has nothing left to do ends', async ({ skip, onTestFinished }) => {
  skip(why !== undefined, why);
  const server = await KubernetesServer.start();
  onTestFinished(() => server.close());
  const { url: api, ca, admin: token } = server;
  const url = `kubernetes:?${new URLSearchParams({ url: api, ca, token })}`;
  await allEnd(await openStore(url), { url });
});
