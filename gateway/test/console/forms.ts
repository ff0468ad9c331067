import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { Locator, Page } from 'playwright-core';
import { type Console, expectSound } from './harness.ts';

export function testForms({ open, client, origin }: Console): void {
  const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name });

  test('Ctrl+Enter sends every dialogue, and is listed', async () => {
    const page = await open('/catalog?tab=teams');
    const { keyboard } = page;
    await page.getByRole('button', { name: 'Team', exact: true }).click();
    await page.getByLabel('Name').fill('Night shift');
    await page.getByLabel('Description').fill('Awake');
    await keyboard.press('Control+Enter');
    const row = page.getByRole('row').filter({ hasText: 'Night shift' });
    await row.waitFor();
    await row.getByRole('button', { name: 'Archive' }).click();
    await dialogOf(page, 'Archive Night shift?').waitFor();
    await keyboard.press('Control+Enter');
    await row.waitFor({ state: 'detached' });

    await page.goto(`${origin()}/app/keys`);
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('What is it for?').fill('The pipeline');
    await keyboard.press('Control+Enter');
    await dialogOf(page, 'The token of the key').waitFor();
    await keyboard.press('Control+Enter');
    await dialogOf(page, 'The token of the key').waitFor({ state: 'detached' });

    await keyboard.press('?');
    await dialogOf(page, 'Keys').getByText('Ctrl Enter').waitFor();
    // It has nothing to send.
    await keyboard.press('Control+Enter');
    await keyboard.press('Escape');
    await keyboard.press('c');
    await dialogOf(page, 'Declare an incident').getByLabel('What is happening?').fill('Sent by two keys');
    await keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: 'Sent by two keys' }).waitFor();
    await keyboard.press('r');
    await page.getByLabel('Note for the timeline').fill('It\nis over');
    await keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Edit Status: Resolved' }).waitFor();
    const { incidents } = (await client().get('/api/v1/incidents?limit=100&q=two+keys')).body;
    expect(incidents).toHaveLength(1);
  });

  test('a choice is saved by Enter, and the next keys belong to the page, even while it is saved', async () => {
    const { incident } = (await client().post('/api/v1/incidents', { title: 'All by keys' })).body;
    const page = await open(`/incidents/${incident.human_id}`);
    const { keyboard } = page;
    const choose = async (next: string) => {
      await keyboard.press('s');
      await page.getByRole('combobox', { name: 'Status' }).waitFor();
      for (const key of ['ArrowDown', 'Enter', next]) await keyboard.press(key);
    };
    await page.getByRole('button', { name: 'Edit Status: Open' }).waitFor();
    await choose('a');
    await page.getByText(`You lead ${incident.human_id}.`).waitFor();
    await page.getByRole('button', { name: 'Edit Status: Active' }).waitFor();
    await choose('n');
    await keyboard.type('Seen by');
    await page.getByRole('button', { name: 'Edit Status: On hold' }).waitFor();
    await keyboard.type(' all');
    expect(await page.getByLabel('Write to the timeline').inputValue()).toBe('Seen by all');
  });

  test('who declares an incident is on its page afterwards, and buttons below a title are as small as others', async () => {
    const page = await open();
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await page.keyboard.press('c');
    await page.getByLabel('What is happening?').fill('Where am I?');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Where am I?' }).waitFor();
    await eventually(async () => (await page.evaluate<string>('document.activeElement.id')) === 'main');

    const size = async (name: string) =>
      page.getByRole('button', { name, exact: true }).evaluate('(button) => getComputedStyle(button).fontSize');
    await page.keyboard.press('e');
    const sizes = [await size('Save'), await size('Cancel')];
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Edit Title: Where am I?' }).waitFor();
    await page.keyboard.press('v');
    expect(sizes).toEqual([await size('Save'), await size('Cancel')]);
  });

  test('a refusal stands once, at the field that people see, and goes when that is mended', async () => {
    const page = await open('/keys');
    const reason = page.locator('[id$=-fault], [role=alert]').filter({ visible: true });
    const reasons = async () => reason.allTextContents();
    const isAt = async (field: Locator) => {
      await reason.first().waitFor();
      expect(await reason.count()).toBe(1);
      expect(await field.getAttribute('aria-describedby')).toContain(await reason.getAttribute('id'));
    };
    const mended = async () => eventually(async () => (await reasons()).length === 0);

    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('What is it for?').fill(' ');
    await page.getByLabel('incidents:read').uncheck();
    await page.getByRole('button', { name: 'Create' }).click();
    await isAt(page.getByLabel('What is it for?'));
    await page.getByLabel('incidents:read').check();
    expect(await reasons()).toHaveLength(1);
    await page.getByLabel('incidents:read').uncheck();
    await page.getByLabel('What is it for?').fill('Nothing');
    await mended();
    await page.getByRole('button', { name: 'Create' }).click();
    await isAt(page.getByRole('group', { name: 'It may' }));
    await expectSound(page, 'refused-key');
    await page.getByLabel('incidents:read').check();
    await mended();

    await page.goto(`${origin()}/app/fields`);
    await page.getByRole('button', { name: 'New field' }).click();
    await page.getByLabel('Name').fill('Cause');
    await page.getByLabel('Type').selectOption('One of a list');
    await page.getByRole('button', { name: 'Save' }).click();
    await isAt(page.getByLabel('Options, one in each line'));
    await page.getByLabel('Options, one in each line').fill('disk');
    await mended();

    // Where a property stands, too.
    await page.goto(`${origin()}/app/`);
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await page.keyboard.press('c');
    await page.getByLabel('What is happening?').fill('To be renamed');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'To be renamed' }).waitFor();
    await page.keyboard.press('e');
    await page.getByRole('textbox', { name: 'Title' }).fill(' ');
    await page.keyboard.press('Enter');
    await reason.first().waitFor();
    expect(await reasons()).toEqual(['Must not be blank']);
    await page.getByRole('textbox', { name: 'Title' }).fill('Renamed');
    await mended();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Edit Title: Renamed' }).waitFor();
  });
}
