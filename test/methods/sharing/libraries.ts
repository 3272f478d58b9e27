/** The versions that the tests run: one of today, and one that is two years older. */
import type { Artifact } from '../../servers/maven.ts';

const CONNECTORS: readonly Artifact[] = [
  { group: 'org.postgresql', name: 'postgresql', version: '42.7.14' },
  { group: 'org.mariadb.jdbc', name: 'mariadb-java-client', version: '3.5.11' },
];

type Versions = { readonly spring: string; readonly shedlock: string; readonly lettuce: string };

function librariesOf({ spring, shedlock, lettuce }: Versions): Artifact {
  const integration = { group: 'org.springframework.integration', version: spring };
  const lock = { group: 'net.javacrumbs.shedlock', version: shedlock };
  return {
    ...integration,
    name: 'spring-integration-redis',
    with: [
      { ...integration, name: 'spring-integration-jdbc' },
      { ...lock, name: 'shedlock-provider-jdbc-template' },
      { ...lock, name: 'shedlock-spring' },
      { ...lock, name: 'shedlock-provider-redis-spring' },
      { group: 'io.lettuce', name: 'lettuce-core', version: lettuce },
      ...CONNECTORS,
    ],
  };
}

/** Of one class path each. */
export const LIBRARIES: Readonly<Record<'new' | 'old', Artifact>> = {
  new: librariesOf({ spring: '7.1.2', shedlock: '7.10.1', lettuce: '7.7.0.RELEASE' }),
  old: librariesOf({ spring: '6.4.0', shedlock: '5.16.0', lettuce: '6.4.1.RELEASE' }),
};

/** The URL of a test's server for JDBC. */
export function jdbcUrl(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  const scheme = protocol.startsWith('postgres') ? 'postgresql' : 'mariadb';
  return `jdbc:${scheme}://${host}${pathname}?user=${username}`;
}
