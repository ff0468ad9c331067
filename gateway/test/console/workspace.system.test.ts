import { beforeAll, describe } from '@jest/globals';
import { startReceiver, startSlack } from '@tocsin/testing';
import { describeWithServersAndBrowser } from '@tocsin/testing/suites';
import { testCatalog } from './catalog.ts';
import { testConfiguration } from './configuration.ts';
import { testDeclare } from './declare.ts';
import { testDestinations } from './destinations.ts';
import { testForms } from './forms.ts';
import { testGuides } from './guides.ts';
import { consoleInBrowser } from './harness.ts';
import { testLists } from './lists.ts';
import { testOnCall } from './on-call.ts';
import { testPeople } from './people.ts';
import { testSettings } from './settings.ts';
import { testTrackers } from './trackers.ts';
import { testWebhooks } from './webhooks.ts';
import { running } from '../../../infra/verification/systems/running.ts';

describeWithServersAndBrowser('a workspace in the console', () => {
  const receiver = running(startReceiver);
  const slack = running(startSlack);
  const console = consoleInBrowser(() => ({
    receivers: [receiver],
    settings: { SLACK_API_URL: slack.url },
  }));

  beforeAll(async () => {
    const client = console.client();
    const { team } = (await client.post('/api/v1/teams', { name: 'Payments' })).body;
    const service = { name: 'Checkout', owner_team_id: team.id, observability_names: ['checkout-prod'] };
    await client.post('/api/v1/services', service);
  });

  // The first, since it counts all incidents.
  describe('addresses, lists and the way back in the console', () => testLists(console));
  describe('the catalog, keys and first steps in the console', () => testCatalog(console));
  describe('webhooks and deliveries in the console', () => testWebhooks(console, receiver));
  describe('destinations in the console', () => testDestinations(console, receiver));
  describe('trackers in the console', () => testTrackers(console, receiver));
  describe('forms in the console', () => testForms(console));
  describe('guides in the console', () => testGuides(console));
  describe('settings in the console', () => testSettings(console));
  describe('people in the console', () => testPeople(console));
  describe('the configuration in the console', () => testConfiguration(console));
  describe('who is on call in the console', () => testOnCall(console, receiver));
  // The last, since the workspace then requires more.
  describe('declaring an incident in the console', () => testDeclare(console, slack));
});
