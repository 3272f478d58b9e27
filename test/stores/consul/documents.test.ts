/** Documents in a real Consul. */
import { expect, test } from 'vitest';
import { consulDocuments } from '../../../src/stores/consul/documents.ts';
import { examined } from '../../cli/examined.ts';
import { ConsulServer } from '../../servers/consul-server.ts';
import { missing } from '../../servers/programs.ts';
import {
  absenceIsTold,
  cutting,
  documentsTests,
  sharedServer,
  watchesGoOn,
} from '../document/service.ts';

const server = sharedServer(await missing('consul'), () => ConsulServer.start());
const documents = (port = server().port) => consulDocuments(`http://127.0.0.1:${port}`);

documentsTests({
  create: () => documents(),
  has: ['remove', 'list', 'watch'],
  losing: cutting(() => server().port, documents),
});

watchesGoOn(documents, () => server().restart());
absenceIsTold(() => server().port, documents);

test('an address that is none, and too much text, are refused', async () => {
  for (const url of ['consul.local', 'ftp://a', '']) {
    expect(() => consulDocuments(url)).toThrow(/must be a URL/);
  }
  const put = documents().put('a', 'x'.repeat(600_000), undefined);
  await expect(put).rejects.toMatchObject({ code: 'USAGE' });
});

test('the doctor asks the agent for its version and its clock', async () => {
  const { server: told } = await examined(`consul://127.0.0.1:${server().port}`);
  expect(told?.says).toMatch(/^Consul 1\.\d+\.\d+\S*, an agent in dc1$/);
});
