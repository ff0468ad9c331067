import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { Page } from 'playwright-core';
import { CLEAN, type Console, findings, OWNER } from './harness.ts';
import { type Provider, withProvider } from './provider.ts';

export function testDrafts(console: Console, provider: Provider): void {
  const { open, visit, client, origin, linkFor, declare, incident, note, addPerson } = console;
  withProvider(console, provider);
  beforeAll(() => {
    provider.signIn({ sub: 'person-1', email: OWNER, email_verified: true, name: 'Ana' });
  });

  const revokeSessions = async () => {
    const { sessions } = (await client().get('/api/v1/settings/sessions?limit=100')).body;
    for (const { id } of sessions) await client().post(`/api/v1/settings/sessions/${id}/revoke`);
  };
  const began = (page: Page) => page.getByRole('textbox', { name: 'Began', exact: true });
  /** Writes in every kind of form of an incident. */
  const writeEverywhere = async (page: Page) => {
    await page.getByLabel('Write to the timeline').fill('A note that was not sent');
    await page.getByRole('button', { name: 'Set a time' }).click();
    await began(page).fill('2026-03-01T10:00');
    await page.getByRole('article').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Text of the event').fill('A better text');
    await page.getByRole('button', { name: /^Edit Impact summary/ }).click();
    await page.getByLabel('Impact summary').fill('Nobody can pay');
    await page.getByRole('button', { name: /^Edit Lead/ }).click();
    await page.getByRole('combobox', { name: 'Lead' }).selectOption({ index: 1 });
  };
  const expectDrafts = async (page: Page) => {
    await page.getByLabel('Write to the timeline').waitFor();
    await page.getByLabel('Text of the event').waitFor();
    expect(await page.getByLabel('Write to the timeline').inputValue()).toBe('A note that was not sent');
    expect(await began(page).first().inputValue()).toBe('2026-03-01T10:00');
    expect(await page.getByLabel('Text of the event').inputValue()).toBe('A better text');
    expect(await page.getByLabel('Impact summary').inputValue()).toBe('Nobody can pay');
    // The people arrive after the page.
    await eventually(async () => (await page.getByRole('combobox', { name: 'Lead' }).inputValue()) !== '');
  };

  test('survive other pages, Back, a reload, the end of the session and both ways to sign in again', async () => {
    const { id, human_id: reference } = await declare('Written about');
    await note(id, { body: 'A text' });
    const other = await declare('Another one');
    const page = await open(`/incidents/${id}`);
    await writeEverywhere(page);
    await page.getByRole('link', { name: 'Statistics' }).click();
    await page.getByRole('heading', { name: 'Statistics', level: 1 }).waitFor();
    await page.goBack();
    await expectDrafts(page);
    await page.reload();
    await expectDrafts(page);
    expect(await findings(page)).toEqual(CLEAN);
    // Another incident has none of them.
    await page.goto(`${origin()}/app/incidents/${other.id}`);
    expect(await page.getByLabel('Write to the timeline').inputValue()).toBe('');
    await page.goto(`${origin()}/app/incidents/${id}`);
    await page.getByLabel('Text of the event').waitFor();

    // The session ends while somebody writes, and a link in the same tab leads back.
    await revokeSessions();
    await page.getByText('You are signed out').waitFor();
    await page.getByText('What you have written is kept in this tab.').waitFor();
    await page.goto(await linkFor(OWNER));
    await page.getByRole('heading', { name: 'Written about' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/app/incidents/${reference}`);
    await expectDrafts(page);

    await revokeSessions();
    await page.getByRole('link', { name: 'Sign in with your organization' }).click();
    await page.getByRole('heading', { name: 'Written about' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/app/incidents/${reference}`);
    await expectDrafts(page);

    // What is sent or discarded does not come back.
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('A note that was not sent').waitFor();
    const event = page.getByRole('article').filter({ has: page.getByLabel('Text of the event') });
    await event.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Text of the event').waitFor({ state: 'detached' });
    await page.getByText('A better text').waitFor();
    await page.getByRole('combobox', { name: 'Lead' }).press('Escape');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Edit Impact summary: Nobody can pay' }).waitFor();
    expect(await incident(id)).toMatchObject({ impact_summary: 'Nobody can pay', incident_manager: '' });
    await page.reload();
    await page.getByText('A better text').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(await page.getByLabel('Write to the timeline').inputValue()).toBe('');
    expect(
      await page.evaluate<string[]>("Object.keys(sessionStorage).filter((key) => key.startsWith('draft'))"),
    ).toEqual([]);
  });

  test('are kept offline, and not called live; one note is sent once, whatever became of its response', async () => {
    const { id } = await declare('Far from everything');
    const page = await open(`/incidents/${id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('Offline', { exact: true }).waitFor();
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
    await page.getByLabel('Write to the timeline').fill('The mast is down');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const fault = page.getByText('Tocsin cannot be reached. Check the connection.');
    await fault.waitFor();
    // It goes when somebody goes on writing.
    await page.getByLabel('Write to the timeline').fill('The mast is down again');
    await fault.waitFor({ state: 'detached' });
    await page.context().setOffline(false);

    // The server takes the note, and the response is lost.
    const cdp = await page.context().newCDPSession(page);
    cdp.on('Fetch.requestPaused', ({ requestId }) => {
      void cdp.send('Fetch.failRequest', { requestId, errorReason: 'ConnectionReset' });
    });
    await cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*/timeline', requestStage: 'Response' }] });
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await fault.waitFor();
    await cdp.send('Fetch.disable');
    await page.reload();
    expect(await page.getByLabel('Write to the timeline').inputValue()).toBe('The mast is down again');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('article').getByText('The mast is down again').waitFor();
    const { events } = (await client().get(`/api/v1/incidents/${id}/timeline`)).body;
    expect(events.map(({ body }: { body: string }) => body)).toEqual(['The mast is down again']);
    await eventually(async () => (await page.getByLabel('Write to the timeline').inputValue()) === '');
  });

  test('of a dialogue come back until they are cancelled; a refusal stands at its field until that is mended', async () => {
    const page = await open();
    const dialog = page.getByRole('dialog');
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await page.keyboard.press('c');
    await dialog.getByLabel('What is happening?').fill('   ');
    await dialog.getByRole('button', { name: 'Declare' }).click();
    const field = dialog.getByLabel('What is happening?');
    const reason = dialog.getByText('Must not be blank');
    await reason.waitFor();
    expect(await reason.count()).toBe(1);
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await findings(page)).toEqual(CLEAN);
    await field.fill('Nobody can pay');
    await reason.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('button', { name: 'Declare incident' }).click();
    expect(await field.inputValue()).toBe('Nobody can pay');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Declare incident' }).click();
    expect(await field.inputValue()).toBe('');
  });

  test('are not shown to the next user of the tab, and the oldest go when there are many', async () => {
    const { id } = await declare('Read by others');
    const page = await open(`/incidents/${id}`);
    await page.getByLabel('Write to the timeline').fill('A secret of mine');
    await page.evaluate(`for (let each = 0; each < 60; each += 1)
    sessionStorage.setItem('draft 1 ' + each, JSON.stringify({ at: each, value: 'x'.repeat(70000) }))`);
    await page.getByLabel('Write to the timeline').fill('A secret of mine!');
    const drafts = async () =>
      page.evaluate<string[]>("Object.keys(sessionStorage).filter((key) => key.startsWith('draft'))");
    expect((await drafts()).length).toBeLessThanOrEqual(50);
    expect((await drafts()).some((key) => key.endsWith(`${id} note`))).toBe(true);
    const email = await addPerson('Cleo');
    await page.goto(await linkFor(email));
    await page.getByRole('button', { name: 'Sign in as Cleo' }).click();
    await page.getByText('Cleo', { exact: true }).waitFor();
    await page.goto(`${origin()}/app/incidents/${id}`);
    expect(await page.getByLabel('Write to the timeline').inputValue()).toBe('');
    expect(await drafts()).toEqual([]);
  });

  test('go from every tab when their writer signs out', async () => {
    const { id } = await declare('Left behind');
    const page = await open(`/incidents/${id}`);
    const other = await open(`/incidents/${id}`);
    const drafts = async (tab: Page) =>
      tab.evaluate<string[]>("Object.keys(sessionStorage).filter((key) => key.startsWith('draft '))");
    for (const tab of [page, other]) await tab.getByLabel('Write to the timeline').fill('A secret of mine');
    expect([(await drafts(page)).length, (await drafts(other)).length]).toEqual([1, 1]);
    // Not while it cannot be sent.
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Tocsin cannot be reached. Check the connection.').waitFor();
    expect(await drafts(page)).toHaveLength(1);
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [page, other]) {
      await tab.getByText('You are signed out').waitFor();
      expect(await tab.getByText('What you have written is kept in this tab.').count()).toBe(0);
      expect(await drafts(tab)).toEqual([]);
    }
    await page.goto(await linkFor(OWNER));
    await page.getByRole('heading', { name: 'Left behind' }).waitFor();
    expect(await page.getByLabel('Write to the timeline').inputValue()).toBe('');
    // The list of sessions has the same button.
    await page.getByLabel('Write to the timeline').fill('Another secret');
    await page.getByRole('link', { name: 'Keys and sessions' }).click();
    const row = page.getByRole('row').filter({ hasText: 'This one' });
    await row.getByRole('button', { name: 'End' }).click();
    await page.getByText('You are signed out').waitFor();
    expect(await drafts(page)).toEqual([]);
  });

  test('whoever follows a link while signed out comes to its page by the provider', async () => {
    const { id } = await declare('Linked to');
    const watched = await visit(`${origin()}/app/incidents/${id}?from=chat`);
    await watched.page.getByRole('link', { name: 'Sign in with your organization' }).click();
    await watched.page.getByRole('heading', { name: 'Linked to' }).waitFor();
    expect(watched.problems.filter((problem) => !problem.includes('401'))).toEqual([]);
  });
}
