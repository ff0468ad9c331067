import { describe } from '@jest/globals';
import { describeWithServersAndBrowser } from '@tocsin/testing/suites';
import { testActivity } from './console/activity.ts';
import { testAround } from './console/around.ts';
import { consoleInBrowser } from './console/harness.ts';
import { testTwoPeople } from './console/two-people.ts';

describeWithServersAndBrowser('an incident in the console', () => {
  const console = consoleInBrowser();
  describe('the activity of an incident in the console', () => testActivity(console));
  describe('what surrounds an incident in the console', () => testAround(console));
  describe('two people who write at the same time in the console', () => testTwoPeople(console));
});
