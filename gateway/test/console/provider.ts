import { afterAll, beforeAll } from '@jest/globals';
import { CLIENT, type startProvider } from '../sign-in/oidc-provider.ts';
import type { Console } from './harness.ts';

/** An OpenID Connect provider that the gateway trusts, with the workspace's callback. */
export type Provider = Awaited<ReturnType<typeof startProvider>>;

/** Lets people of the workspace sign in by a provider, during the tests of one suite. */
export function withProvider({ system }: Console, { issuer }: Provider): void {
  const workspace = ['--workspace', 'acme'];
  beforeAll(async () => {
    const registration = ['--client-id', CLIENT.id, '--client-secret', CLIENT.secret, '--issuer', issuer];
    await system().admin('oidc', 'connect', ...workspace, ...registration);
  });
  afterAll(async () => system().admin('oidc', 'disconnect', ...workspace));
}
