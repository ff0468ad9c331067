import { describe } from '@jest/globals';
import { describeWithServersAndBrowser } from '@tocsin/testing/suites';
import { testActivity } from './activity.ts';
import { testAround } from './around.ts';
import { consoleInBrowser } from './harness.ts';
import { testIncidentPage } from './incident-page.ts';
import { testPictures } from './pictures.ts';
import { testPostmortem } from './postmortem.ts';
import { testRestricted } from './restricted.ts';
import { testTwoPeople } from './two-people.ts';

describeWithServersAndBrowser('an incident in the console', () => {
  const console = consoleInBrowser();
  describe('the activity of an incident in the console', () => testActivity(console));
  describe('the page of an incident in the console', () => testIncidentPage(console));
  describe('what surrounds an incident in the console', () => testAround(console));
  describe('pictures in the console', () => testPictures(console));
  describe('a restricted incident in the console', () => testRestricted(console));
  describe('the post-mortem of an incident in the console', () => testPostmortem(console));
  describe('two people who write at the same time in the console', () => testTwoPeople(console));
});
