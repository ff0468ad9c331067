import { afterAll, describe } from '@jest/globals';
import { TEST_SECRET_KEYS } from '@tocsin/testing';
import { describeWithServersAndBrowser } from '@tocsin/testing/suites';
import { startProvider } from '../sign-in/oidc-provider.ts';
import { freePorts } from '../../../infra/installation/ports.ts';
import { testDrafts } from './drafts.ts';
import { consoleInBrowser } from './harness.ts';
import { testLive } from './live.ts';
import { testSignIn } from './sign-in.ts';

const [port = 0] = await freePorts(1);
const provider = await startProvider([`http://acme.localhost:${port}/app/oidc/callback`]);

describeWithServersAndBrowser('who uses the console, and what reaches them', () => {
  const console = consoleInBrowser(() => ({
    gateway: { ca: provider.ca },
    settings: {
      PORT: String(port),
      WEBHOOK_TEST_RECEIVERS: `localhost:${provider.port}`,
      TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    },
  }));
  afterAll(async () => provider.stop());
  // The first, since it needs the first IDs.
  describe('events in the console', () => testLive(console));
  describe('ways into the console', () => testSignIn(console, provider));
  describe('drafts in the console', () => testDrafts(console, provider));
});
