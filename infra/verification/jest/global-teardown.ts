import { dropTestDatabases, testServers } from '@tocsin/testing';
import { releaseServers } from '../servers/find-servers.ts';

export default async function globalTeardown(): Promise<void> {
  const { databaseUrl, runId } = testServers();
  await dropTestDatabases(databaseUrl, runId);
  await releaseServers();
}
