import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { at, type Console, expectSound, NARROW } from './harness.ts';

export function testRestricted({ open, client, addPerson, declare, incident, note }: Console): void {
  let email: string;
  let cai: number;
  beforeAll(async () => {
    email = await addPerson('Cai');
    const people = (await client().get('/api/v1/settings/users')).body.users;
    cai = people.find(({ name }: { name: string }) => name === 'Cai').id;
  });
  const mark = (page: Page) => page.getByRole('main').getByText('Restricted', { exact: true });

  test('an incident is declared for few, and whoever sees all of them shows it to everybody', async () => {
    const page = await open('/', { email });
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Declare an incident' });
    await dialog.getByLabel('What is happening?').fill('A colleague copies data');
    await dialog.getByLabel('Restricted').focus();
    await page.keyboard.press('Space');
    await dialog.getByRole('group', { name: 'People' }).getByLabel('Person 1').check();
    await expectSound(page, 'declare-restricted');
    await page.setViewportSize(NARROW);
    await expectSound(page, 'declare-restricted-narrow');
    await dialog.getByRole('button', { name: 'Declare' }).click();
    await page.getByRole('heading', { name: 'A colleague copies data' }).waitFor();
    await mark(page).waitFor();
    expect(await page.getByRole('region', { name: 'Who has read it' }).count()).toBe(0);
    const { user } = (await client().get('/api/v1/me')).body;
    const [declared] = (await client().get('/api/v1/incidents?limit=1')).body.incidents;
    expect(declared).toMatchObject({ restricted: true, visible_to: { users: [user.id], teams: [] } });

    const theirs = await open();
    await theirs.getByRole('listitem').filter({ hasText: 'A colleague' }).getByText('Restricted').waitFor();
    await theirs.getByRole('link', { name: 'A colleague copies data' }).click();
    await theirs.getByRole('region', { name: 'Who has read it' }).getByText('Cai').first().waitFor();
    await theirs.getByRole('button', { name: 'Edit Also visible to: You' }).click();
    await expectSound(theirs, 'restricted-incident');
    await theirs.getByLabel('Person 1').uncheck();
    await theirs.getByRole('button', { name: 'Save' }).click();
    await theirs.getByRole('button', { name: 'Edit Also visible to: nobody' }).waitFor();
    const show = theirs.getByRole('button', { name: 'Show to everybody' });
    await show.click();
    await theirs.getByRole('dialog').getByText('Everybody in the workspace will see it').waitFor();
    await show.last().click();
    await theirs.getByRole('button', { name: 'Restrict' }).waitFor();
    expect(await mark(theirs).count()).toBe(0);
    expect(await incident(declared.id)).toMatchObject({ restricted: false });
  });

  test('whoever restricts an incident sees it and its changes, until somebody takes them out', async () => {
    const { id, human_id: reference } = await declare('Somebody reads our mail');
    const page = await open('/', { email });
    // Instead of waiting for the next read.
    await page.clock.install();
    await page.reload();
    await page.getByRole('link', { name: 'Somebody reads our mail' }).click();
    await page.getByRole('button', { name: 'Restrict' }).click();
    const dialog = page.getByRole('dialog', { name: `Restrict ${reference}` });
    await dialog.getByText('From now on only these see it: Person 1,').waitFor();
    await dialog.getByText('You are added').waitFor();
    await dialog.getByText('What was sent before stays sent').waitFor();
    await expectSound(page, 'restrict');
    await dialog.getByRole('button', { name: 'Restrict' }).click();
    await mark(page).waitFor();
    await page.getByRole('button', { name: 'Edit Also visible to: You' }).waitFor();
    expect(await incident(id)).toMatchObject({ restricted: true, visible_to: { users: [cai], teams: [] } });

    await note(id, { body: 'It is the printer' });
    await page.clock.fastForward(15_000);
    await page.getByText('It is the printer').first().waitFor();
    await page.getByRole('button', { name: /^Edit Title/ }).click();
    await page.getByLabel('Title').fill('The printer reads our mail');
    const { revision } = await incident(id);
    await client().patch(`/api/v1/incidents/${id}`, { visible_to: { users: [] } }, at(revision));
    await page.clock.fastForward(15_000);
    await page.getByRole('heading', { name: 'You no longer see this incident' }).waitFor();
    await expectSound(page, 'restricted-gone');
    expect(await page.evaluate<string>('JSON.stringify(sessionStorage)')).not.toContain('our mail');
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'All incidents' }).click();
    await page.getByRole('heading', { name: 'You are offline' }).waitFor();
    expect(await page.getByText('our mail').count()).toBe(0);
  });
}
