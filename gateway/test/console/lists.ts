import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { withClient } from '../../../infra/installation/databases.ts';
import { type Console, expectSound, NARROW } from './harness.ts';

export function testLists({ open, openWatched, client, system, origin, addPerson }: Console): void {
  const names: string[] = [];

  beforeAll(async () => {
    for (const title of ['Fresh fire', 'Old fire', 'Ancient fire']) {
      const body = { title, service: 'checkout', severity: 'sev2' };
      names.push((await client().post('/api/v1/incidents', body)).body.incident.human_id);
    }
    for (const id of [2, 3]) await client().post(`/api/v1/incidents/${id}/resolve`, {});
    await withClient(system().database.adminUrl, async (database) => {
      await database.query(`update incident.incidents set ended_at = created_at + interval '90 minutes'
      where title <> 'Fresh fire'`);
      await database.query(`update incident.incidents set created_at = created_at - interval '20 days',
      ended_at = ended_at - interval '20 days' where title = 'Old fire'`);
      await database.query(`update incident.incidents set created_at = created_at - interval '60 days',
      ended_at = ended_at - interval '60 days' where title = 'Ancient fire'`);
    });
  });

  test('an incident has the address that people say; old ones lead there, and a wrong one offers the search', async () => {
    const { page, problems } = await openWatched('/incidents/1');
    await page.waitForURL(`${origin()}/app/incidents/${names[0]}`);
    await page.getByRole('heading', { name: 'Fresh fire' }).waitFor();
    await page.keyboard.press('y');
    await page.getByText(`The address of ${names[0]} is copied.`).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(page.url());
    await page.goto(`${origin()}/app/incidents/${names[1]?.toLowerCase()}`);
    await page.getByRole('heading', { name: 'Old fire' }).waitFor();
    await page.waitForURL(`${origin()}/app/incidents/${names[1]}`);
    expect(problems).toEqual([]);
    await page.goto(`${origin()}/app/incidents/INC-900`);
    await page.getByRole('link', { name: 'Search for INC-900' }).waitFor();
    await expectSound(page, 'wrong-address');
    await page.getByRole('link', { name: 'Search for INC-900' }).click();
    await page.getByText('No incident matches').waitFor();
  });

  test('a search looks at all statuses, and says how many are in the others', async () => {
    const page = await open();
    await page.getByRole('link', { name: 'Fresh fire' }).waitFor();
    expect(await page.locator('[data-rows] a').count()).toBe(1);
    await page.keyboard.press('/');
    await page.keyboard.type('fire');
    await page.getByRole('link', { name: 'Ancient fire' }).waitFor();
    expect(await page.getByRole('button', { name: /^All/ }).getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('button', { name: /^Ongoing/ }).click();
    await page.getByText('2 incidents with another status match, too.').waitFor();
    await expectSound(page, 'search-others');
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('link', { name: 'Ancient fire' }).waitFor();
    await page.getByRole('searchbox').fill(names[2] ?? '');
    const titles = async () => (await page.locator('[data-rows] a').allTextContents()).join();
    await eventually(async () => (await titles()) === 'Ancient fire');
  });

  test('the archive counts what is archived, and says nothing of the others', async () => {
    const page = await open();
    await page.getByRole('link', { name: 'Fresh fire' }).waitFor();
    const tab = (name: string) => page.getByRole('group', { name: 'Status' }).getByRole('button', { name });
    const counted = async () => (await tab('').allTextContents()).filter((text) => /\d/.test(text));
    await eventually(async () => (await counted()).includes('Ongoing1'));
    const { incident } = (await client().post('/api/v1/incidents', { title: 'Put away' })).body;
    await client().post(`/api/v1/incidents/${incident.id}/archive`, {});
    await tab('Archived').click();
    await page.getByRole('link', { name: 'Put away' }).waitFor();
    expect(await counted()).toEqual(['Archived1']);
  });

  test('dates are in the address, rows say when, and the way back keeps the filters', async () => {
    const page = await open('/?view=all');
    await page.getByLabel('Declared', { exact: true }).selectOption('Last 30 days');
    await page.getByRole('link', { name: 'Ancient fire' }).waitFor({ state: 'detached' });
    expect(page.url()).toContain('days=30');
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Old fire' })
      .getByText(/–.*took 1 h 30 min/)
      .waitFor();
    await expectSound(page, 'dates-wide');
    await page.getByRole('link', { name: 'Old fire' }).click();
    await page.getByRole('heading', { name: 'Old fire' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Incidents' }).click();
    await page.getByRole('link', { name: 'Old fire' }).waitFor();
    expect(page.url()).toContain('days=30');
    await page.getByLabel('Declared', { exact: true }).selectOption('Dates…');
    const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    await page.getByLabel('From').fill(dayBefore(70));
    await page.getByLabel('Until').fill(dayBefore(40));
    await page.getByRole('link', { name: 'Ancient fire' }).waitFor();
    await eventually(async () => (await page.locator('[data-rows] a').count()) === 1);
    await page.setViewportSize(NARROW);
    await expectSound(page, 'dates-narrow');
    await page.reload();
    await page.getByRole('link', { name: 'Ancient fire' }).waitFor();
    expect(await page.getByLabel('From').inputValue()).toBe(dayBefore(70));
  });

  test('a view is saved by name, opened and removed', async () => {
    const page = await open('/?view=all&severity=["sev2"]&days=90');
    await page.getByLabel('Saved views').selectOption('Save this view…');
    await page.getByRole('dialog').getByLabel('Name').fill('Severe, this quarter');
    await expectSound(page, 'save-view');
    await page.keyboard.press('Enter');
    const chosen = async () => page.getByLabel('Saved views').locator('option:checked').textContent();
    await eventually(async () => (await chosen()) === 'Severe, this quarter');
    await page.goto(`${origin()}/app/`);
    expect(await chosen()).toBe('Views');
    await page.getByLabel('Saved views').selectOption('Severe, this quarter');
    await page.getByRole('link', { name: 'Ancient fire' }).waitFor();
    expect(page.url()).toContain('days=90');
    await page.getByLabel('Saved views').selectOption('Remove “Severe, this quarter”');
    await page.getByText('The view is removed.').waitFor();
    expect(await page.getByLabel('Saved views').locator('option').allTextContents()).toEqual([
      'Views',
      'Save this view…',
    ]);
  });

  test('views are the same in two browsers, those of an earlier release move up, and a stale list is not overwritten', async () => {
    const email = await addPerson('Vera');
    const first = await open('/', { email });
    const { user, workspace } = await first.evaluate<{ user: { id: number }; workspace: { id: number } }>(
      "fetch('/api/v1/me').then((response) => response.json())",
    );
    const key = `views ${workspace.id} ${user.id}`;
    const old = JSON.stringify([{ name: 'From before', search: { view: 'all', severity: ['sev2'] } }, { name: 7 }]);
    await first.evaluate(`localStorage.setItem(${JSON.stringify(key)}, ${JSON.stringify(old)})`);
    await first.reload();
    const options = async (page: typeof first) => page.getByLabel('Saved views').locator('option').allTextContents();
    await eventually(async () => (await options(first)).includes('From before'));
    await eventually(async () => (await first.evaluate(`localStorage.getItem(${JSON.stringify(key)})`)) === null);

    const second = await open('/', { email, profile: {} });
    await second.getByLabel('Saved views').selectOption('From before');
    await second.getByRole('link', { name: 'Ancient fire' }).waitFor();
    await second.getByLabel('Saved views').selectOption('Remove “From before”');
    await second.getByText('The view is removed.').waitFor();
    // The first browser does not know yet.
    await first.goto(`${origin()}/app/?view=all`);
    await first.getByLabel('Saved views').selectOption('Save this view…');
    await first.getByRole('dialog').getByLabel('Name').fill('All of it');
    await first.keyboard.press('Enter');
    await eventually(async () => (await options(first)).includes('All of it'));
    expect(await options(first)).not.toContain('From before');
    await second.reload();
    await eventually(async () => (await options(second)).includes('All of it'));
    // Nobody else has them.
    const other = await open();
    await other.getByRole('link', { name: 'Fresh fire' }).waitFor();
    expect(await options(other)).not.toContain('All of it');
  });

  test('an empty list says what to do next, and which filter to take away', async () => {
    const page = await open('/?view=all&severity=["sev2"]&q=no-such-text&service=checkout');
    await page.getByRole('button', { name: 'Without “Search “no-such-text””: 3 incidents' }).waitFor();
    await page.getByRole('button', { name: 'Without “SEV 2”: 0 incidents' }).waitFor();
    await expectSound(page, 'nothing-matches');
    await page.getByRole('button', { name: /^Without “Search/ }).click();
    await page.getByRole('link', { name: 'Ancient fire' }).waitFor();
    await page.getByText('3 incidents match.').waitFor();
    expect(await page.evaluate<string>('document.activeElement.tagName')).not.toBe('BODY');
  });

  test('bars and rows of the statistics open the incidents that they count', async () => {
    const page = await open('/statistics?span="90"');
    await page.getByRole('link', { name: 'Checkout' }).first().click();
    await page.getByRole('link', { name: 'Ancient fire' }).waitFor();
    expect(await page.locator('[data-rows] a').count()).toBe(3);
    await page.goBack();
    await page.getByText('Show as a table').click();
    const table = page.getByRole('region', { name: 'Incidents as a table' });
    await expectSound(page, 'statistics');
    await table.getByRole('row').filter({ hasText: '1' }).last().getByRole('link').click();
    await page.getByRole('link', { name: 'Fresh fire' }).waitFor();
    expect(await page.locator('[data-rows] a').count()).toBe(1);
  });

  test('no filter is cut off before it is chosen, at any width', async () => {
    const page = await open('/');
    await page.getByLabel('Post-mortem').waitFor();
    for (const width of [960, 1_100, 1_263, 1_264, 1_280, 1_366, 1_440, 1_471, 1_472, 1_600]) {
      await page.setViewportSize({ width, height: 800 });
      // As wide as the text is with the space around it.
      const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('main select')].filter((select) => {
        const copy = select.cloneNode(true);
        copy.replaceChildren(new Option(select.selectedOptions[0].label));
        Object.assign(copy.style, { position: 'absolute', width: 'auto', visibility: 'hidden' });
        select.parentElement.append(copy);
        const needed = copy.getBoundingClientRect().width;
        copy.remove();
        return needed > select.getBoundingClientRect().width + 0.5;
      }).map((select) => select.selectedOptions[0].label)`);
      expect({ width, cut }).toEqual({ width, cut: [] });
    }
  });

  test('on a phone, filters are behind a button, titles have two lines, and nothing scrolls sideways', async () => {
    const title = `${'Ein sehr langer Titel '.repeat(8)} حادث 🔥🔥 ${'x'.repeat(60)}`;
    await client().post('/api/v1/incidents', { title, severity: 'sev4' });
    const page = await open('/?view=all&severity=["sev4"]');
    await page.setViewportSize(NARROW);
    const link = page.getByRole('link', { name: 'Ein sehr langer Titel' });
    await link.waitFor();
    await eventually(async () => (await link.boundingBox())?.height === 42);
    expect(await page.getByLabel('Severity', { exact: true }).isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Filters (1)' }).click();
    await page.getByLabel('Severity', { exact: true }).selectOption('SEV 2');
    await page.getByRole('link', { name: 'Ancient fire' }).waitFor();
    await expectSound(page, 'filters-narrow');
    await page.getByRole('button', { name: 'Filters (1)' }).press('Enter');
    expect(await page.getByLabel('Severity', { exact: true }).isVisible()).toBe(false);
  });
}
