import { expect, test } from '@jest/globals';
import { at, CLEAN, type Console, findings, openFolds } from './harness.ts';

export function testIncidentPage({ open, client, system, addPerson, declare, incident, problems }: Console): void {
  test('links of the summary are live, and what is empty is folded without losing what somebody writes', async () => {
    const summary = 'Half of **all** orders, see https://status.example.com';
    const { id } = await declare('Checkout is slow', { impact_summary: summary });
    const page = await open(`/incidents/${id}`);
    const link = page.getByRole('link', { name: 'https://status.example.com' });
    expect(await link.getAttribute('href')).toBe('https://status.example.com');
    const regions = page.getByRole('button', { name: 'Edit Regions' });
    const fold = page.getByRole('button', { name: /^\d+ empty properties$/ });
    await fold.waitFor();
    expect(await regions.count()).toBe(0);
    await openFolds(page);
    await regions.click();
    await page.getByLabel('Regions').fill('eu');
    await page.reload();
    // The draft is there, though the fold is closed again.
    expect(await page.getByLabel('Regions').inputValue()).toBe('eu');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: /^Edit Regions.*: eu$/ }).waitFor();
    expect(await fold.getAttribute('aria-expanded')).toBe('false');
    expect(await page.evaluate<string>('document.activeElement.dataset.edit')).toBe('regions');
    await page.getByRole('button', { name: 'Edit Impact summary' }).click();
    expect(await page.getByLabel('Impact summary').inputValue()).toBe(summary);
    expect(await findings(page)).toEqual(CLEAN);
    expect(problems()).toEqual([]);
  });

  test('labels of an alert are a table, of which long ones are folded', async () => {
    const { token } = (await client().post('/api/v1/settings/api-keys', { name: 'Lights', scopes: ['alerts:write'] }))
      .body;
    const monitor = system()
      .anonymously()
      .with({ Authorization: `Bearer ${token}` });
    const labels = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`label_${index}`, `value: ${index}`]));
    const description = Array.from({ length: 20 }, (_, index) => `Line ${index}`).join('\n');
    const alert = { id: 'lights', status: 'firing', title: 'The lights are out', description, labels };
    const [{ incident: declared }] = (await monitor.post('/api/v1/alerts', alert)).body.results;
    const page = await open(`/incidents/${declared.id}`);
    const rows = page.getByRole('table', { name: 'Labels' }).getByRole('row');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(6);
    await page.getByRole('button', { name: '3 more labels' }).click();
    expect(await rows.last().textContent()).toBe('label_8value: 8');
    expect(await page.getByText('Line 19').count()).toBe(0);
    await page.getByRole('button', { name: 'Whole text' }).click();
    await page.getByText('Line 19').waitFor();
    expect(await page.getByText('Reported with the API key').count()).toBe(0);
    expect(await findings(page)).toEqual(CLEAN);
  });

  test('whoever resolves says when the impact ended and whom it hit, and is offered what is left to do', async () => {
    const { id } = await declare('Nobody can pay', { impact_started_at: '2026-03-01T08:00:00Z' });
    const page = await open(`/incidents/${id}`);
    await page.getByRole('button', { name: 'Resolve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('The impact ended').fill('2026-03-01T09:30');
    await dialog.getByLabel('Customers').selectOption('Affected');
    expect(await findings(page)).toEqual(CLEAN);
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    const left = page.getByRole('region', { name: 'What is left' });
    await left.getByRole('button', { name: 'Add what is left to do' }).click();
    expect(await incident(id)).toMatchObject({
      ...{ status: 'resolved', recovered_at: '2026-03-01T09:30:00.000Z', customer_impact_status: 'confirmed' },
      duration_seconds: 5_400,
    });
    await dialog.getByLabel('What is to be done?').fill('A second provider');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('region', { name: 'Follow-ups' }).getByText('A second provider').waitFor();
    expect(await findings(page)).toEqual(CLEAN);
    await left.getByRole('button', { name: 'Nothing more' }).click();
    await left.waitFor({ state: 'detached' });
  });

  test('changes that follow each other are one entry that opens, and a conflict says who and which words', async () => {
    const email = await addPerson('Uma');
    const { id } = await declare('Contested');
    const theirs = await open(`/incidents/${id}`, { email });
    const mine = await open(`/incidents/${id}`);
    await mine.getByRole('button', { name: /^Edit Title/ }).click();
    await mine.getByLabel('Title').fill('Contested by me alone');
    for (const title of ['Contested by others', 'Contested by others too']) {
      await theirs.getByRole('button', { name: /^Edit Title/ }).click();
      await theirs.getByLabel('Title').fill(title);
      await theirs.getByRole('button', { name: 'Save' }).click();
      await theirs.getByRole('button', { name: `Edit Title: ${title}` }).waitFor();
    }
    await mine.getByRole('button', { name: 'Save' }).click();
    const dialog = mine.getByRole('dialog');
    await dialog.getByText('Uma changed Title').waitFor();
    expect(await dialog.locator('mark').allTextContents()).toEqual(['others', 'too', 'me', 'alone']);
    expect(await findings(mine)).toEqual(CLEAN);
    await dialog.getByRole('button', { name: 'Keep theirs' }).click();

    const entry = mine.getByRole('region', { name: 'Activity' }).getByRole('listitem').filter({ hasText: 'Uma' });
    await entry.getByText('changed the title from Contested to Contested by others too').waitFor();
    await entry.getByRole('button', { name: '2 changes' }).click();
    expect(await entry.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('changed the title from Contested by others to Contested by others too'),
      expect.stringContaining('changed the title from Contested to Contested by others'),
    ]);
    const { revision } = await incident(id);
    await client().patch(`/api/v1/incidents/${id}`, { severity: 'sev1' }, at(revision));
    // What is opened stays open while others go on.
    await mine.getByText('changed the severity').waitFor();
    expect(await entry.getByRole('listitem').count()).toBe(2);
    expect(await findings(mine)).toEqual(CLEAN);
  });
}
