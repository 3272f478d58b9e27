import { describe, test } from 'vitest';
import { allEnd } from '../../methods/processes/finished.ts';
import { KubernetesServer, missingKubernetes } from '../../servers/kubernetes-server.ts';
import { sharedServer } from '../document/service.ts';

const server = sharedServer(await missingKubernetes(), () => KubernetesServer.start());

describe('a program that has nothing left to do ends', () => {
  test.for(['its URL', "client-go's leases"] as const)('with %s', async (client) => {
    const { url: api, ca, admin: token } = server();
    const url = `kubernetes:?${new URLSearchParams({ url: api, ca, token })}`;
    await allEnd(client === 'its URL' ? { url } : { url, client });
  });
});
