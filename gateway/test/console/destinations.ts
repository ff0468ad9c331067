import { expect, test } from '@jest/globals';
import { behave, eventually, type Receiver } from '@tocsin/testing';
import type { Page } from 'playwright-core';
import { at, type Console, expectSound, NARROW, WIDE } from './harness.ts';

const DESTINATIONS = '/api/v1/settings/destinations';
const CHAT = '/services/secret';

/** @param receiver stands for a chat */
export function testDestinations({ open, client, declare }: Console, receiver: Receiver): void {
  /** How the chat answers; other requests to the receiver are those of webhooks. */
  const respond = (behaviour: ReturnType<typeof behave.answer>) =>
    (receiver.respond = ({ path }) => (path === CHAT ? behaviour : behave.answer(204)));
  const stored = async () => (await client().get(DESTINATIONS)).body.destinations;
  const messages = () => receiver.requests.filter(({ path }) => path === CHAT);
  const click = async (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

  /** Narrow, too. */
  const expectSoundInTheDark = async (page: Page, name: string) => {
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectSound(page, name);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(WIDE);
  };

  test('a destination is created with the inputs that its kind needs, by keyboard, and changed', async () => {
    const page = await open();
    const { keyboard } = page;
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await keyboard.press('g');
    await keyboard.press('d');
    await page.getByText('No destination so far').waitFor();
    await click(page, 'New destination');
    const dialog = page.getByRole('dialog', { name: 'New destination' });
    const inputs = async (kind: string) => {
      await dialog.getByRole('combobox', { name: 'Kind' }).selectOption(kind);
      const labels = await dialog.locator('label[for]:visible, legend:visible').allTextContents();
      return labels.filter((label) => !['Kind', 'Name', 'What it gets'].includes(label));
    };
    expect(await inputs('PagerDuty')).toEqual(['Integration key of the Events API v2', 'Address']);
    await dialog.getByText('An incident opens an alert').waitFor();
    expect(await inputs('Email')).toEqual(['Who gets the messages?', 'Text of a message']);
    await dialog.getByLabel(/person-1@acme\.example/).waitFor();
    await expectSound(page, 'new-destination-email');
    expect(await inputs('Another system')).toEqual([
      ...['Key that signs the requests', 'Address', 'Headers, one in each line', 'JSON of a request'],
    ]);
    expect(await inputs('Slack')).toEqual(['Address of the incoming webhook', 'Text of a message']);

    await dialog.getByLabel('Name').fill('Incidents in the chat');
    await keyboard.press('Enter');
    const address = dialog.getByLabel('Address of the incoming webhook');
    await dialog.getByText('Is required for the kind slack').waitFor();
    expect(await address.getAttribute('aria-invalid')).toBe('true');
    await keyboard.type(receiver.url(CHAT));
    await keyboard.press('Tab');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await keyboard.press('Tab');
    await keyboard.press('Space');
    await dialog.getByText('Severities: SEV 1').waitFor();
    await expectSound(page, 'new-destination');
    await expectSoundInTheDark(page, 'new-destination-dark-narrow');
    await keyboard.press('Control+Enter');
    const row = page.getByRole('listitem').filter({ hasText: 'Incidents in the chat' });
    await row.getByText('Slack · https://localhost', { exact: true }).waitFor();
    await row.getByText('Severities: SEV 1', { exact: true }).waitFor();
    await row.getByText('active', { exact: true }).waitFor();
    expect(await stored()).toMatchObject([{ kind: 'slack', filters: { severities: ['sev1'] }, revision: 1 }]);

    // Of two people who change the same, the second one sees both versions.
    await row.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('The chat of all');
    await page.getByText('It begins with https://localhost; the other part is not shown. Empty: unchanged.').waitFor();
    const [{ id, revision }] = await stored();
    await client().patch(`${DESTINATIONS}/${id}`, { name: 'The chat of few' }, at(revision));
    await click(page, 'Save');
    const conflict = page.getByRole('dialog', { name: 'Somebody else changed this, too' });
    await conflict.getByRole('cell', { name: 'The chat of few' }).waitFor();
    await conflict.getByRole('button', { name: 'Save mine' }).click();
    await page.getByText('The chat of all', { exact: true }).waitFor();
    expect(await stored()).toMatchObject([{ name: 'The chat of all', filters: { severities: ['sev1'] }, revision: 3 }]);
  });

  test('a test shows what the receiver says, and one that fails is tried again at once', async () => {
    const page = await open('/destinations');
    respond(behave.answer(403, {}, 'action_prohibited'));
    await click(page, 'Send test');
    const dialog = page.getByRole('dialog', { name: 'Test of The chat of all' });
    await dialog.getByText('The message was not accepted. It answered 403 instead of 2xx.').waitFor();
    await dialog.getByText('action_prohibited').waitFor();
    await expectSound(page, 'destination-tested');
    respond(behave.answer(200, {}, 'ok'));
    // A workspace tests once in two seconds.
    await eventually(async () => {
      await dialog.getByRole('button', { name: 'Send again' }).click();
      await dialog.getByText(/has just tested|accepted the message/).waitFor();
      return dialog.getByText('The receiver accepted the message').isVisible();
    });
    await click(page, 'Done');

    respond(behave.answer(401));
    await declare('Told to nobody', { severity: 'sev1' });
    await page.getByText(/^It answered 401 instead of 2xx\. Tocsin tries again/).waitFor();
    await page.getByText('failing', { exact: true }).waitFor();
    await expectSound(page, 'destination-failing');
    await expectSoundInTheDark(page, 'destination-failing-dark-narrow');
    respond(behave.answer(200));
    await click(page, 'Try again now');
    await eventually(async () => messages().at(-1)?.body.includes('Told to nobody') === true);
    await page.getByText('active', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Try again now' }).waitFor({ state: 'detached' });
  });

  test('a destination is paused, resumed and archived', async () => {
    const page = await open('/destinations');
    await click(page, 'Pause');
    await page.getByText('Gets nothing until you resume it').waitFor();
    expect(await stored()).toMatchObject([{ status: 'paused' }]);
    await click(page, 'Resume');
    await page.getByText('active', { exact: true }).waitFor();
    expect(await stored()).toMatchObject([{ status: 'active' }]);
    await click(page, 'Archive');
    const dialog = page.getByRole('dialog', { name: 'Archive The chat of all?' });
    await expectSound(page, 'destination-archive');
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await page.getByText('No destination so far').waitFor();
    expect(await stored()).toEqual([]);
  });

  test('an empty secret stays as it is, and headers are removed', async () => {
    const page = await open('/destinations');
    await click(page, 'New destination');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Kind' }).selectOption('Another system');
    await dialog.getByLabel('Name').fill('The status page');
    await dialog.getByLabel('Address').fill(receiver.url('/json'));
    await dialog.getByLabel('Key that signs the requests').fill('secret');
    const headers = dialog.getByLabel('Headers, one in each line');
    await headers.fill('X-Team: payments: all\nContent-Length: 7');
    await click(page, 'Create');
    await dialog.getByText('Must have Authorization or names that begin with X-').waitFor();
    await headers.fill('X-Team: payments: all');
    await dialog.getByText('Events: all').click();
    await dialog.getByLabel('Follow-up added').check();
    await click(page, 'Create');
    // The dialogue shows the same text.
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('Events: Follow-up added', { exact: true }).waitFor();
    const [{ id }] = await stored();
    await client().post(`${DESTINATIONS}/${id}/test`);
    expect(receiver.requests.at(-1)).toMatchObject({ path: '/json', headers: { 'x-team': 'payments: all' } });

    await click(page, 'Edit');
    await dialog.getByText('It has X-Team. Empty: unchanged.').waitFor();
    await dialog.getByLabel('Name').fill('The status page of all');
    await dialog.getByLabel('Remove its headers').check();
    await expectSound(page, 'destination-edited');
    await click(page, 'Save');
    await page.getByText('The status page of all', { exact: true }).waitFor();
    expect(await stored()).toMatchObject([{ header_names: [], has_credential: true, revision: 2 }]);
    await client().post(`${DESTINATIONS}/${id}/archive`);
  });
}
