import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { Page } from 'playwright-core';
import { at, CLEAN, type Console, findings, openFolds } from './harness.ts';

const CONFLICT = 'Somebody else changed this, too';

export function testTwoPeople({ open, client, addPerson, declare, incident, note }: Console): void {
  let email: string;
  beforeAll(async () => {
    email = await addPerson('Bea');
  });

  /** An incident on the owner's page. */
  const openMine = async (values: object = {}) => {
    const { id } = await declare('Contested', values);
    return { id, mine: await open(`/incidents/${id}`) };
  };
  /** The same incident on the owner's page and on Bea's. */
  const openTwice = async (values?: object) => {
    const opened = await openMine(values);
    return { ...opened, theirs: await open(`/incidents/${opened.id}`, { email }) };
  };
  const edit = async (page: Page, name: string) => {
    await openFolds(page);
    await page.getByRole('button', { name: new RegExp(`^Edit ${name}`) }).click();
  };
  const save = async (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click();
  const dialogOf = (page: Page) => page.getByRole('dialog', { name: CONFLICT });
  const answer = async (page: Page, button: string) => dialogOf(page).getByRole('button', { name: button }).click();
  const cells = async (page: Page) => {
    await dialogOf(page).waitFor();
    return dialogOf(page).locator('tbody tr').locator('th, td').allTextContents();
  };
  const bodies = async (id: number) =>
    (await client().get(`/api/v1/incidents/${id}/timeline`)).body.events.map(({ body }: { body: string }) => body);

  test('a text of the timeline is saved on the revision that was shown when the edit began', async () => {
    const { id, mine, theirs } = await openTwice();
    await note(id, { body: 'The disk is full' });
    const begin = async (page: Page, text: string) => {
      const article = page.getByRole('article').filter({ hasText: 'The disk is full' });
      await article.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Text of the event').fill(text);
    };
    await begin(mine, 'The disk of db-1 is full');
    await begin(theirs, 'The disk of db-2 is full');
    await save(theirs);
    // Their text has arrived, and mine stays in the form.
    await mine.getByText('Somebody changed it while you write.').waitFor();
    await save(mine);
    expect(await cells(mine)).toEqual(['Text', 'The disk of db-2 is full', 'The disk of db-1 is full']);
    expect(await findings(mine)).toEqual(CLEAN);
    await answer(mine, 'Go on writing');
    expect(await mine.getByLabel('Text of the event').inputValue()).toBe('The disk of db-1 is full');
    expect(await bodies(id)).toEqual(['The disk of db-2 is full']);
    await save(mine);
    await answer(mine, 'Save mine');
    await theirs.getByText('The disk of db-1 is full').waitFor();
    expect(await bodies(id)).toEqual(['The disk of db-1 is full']);
  });

  test('text and mark of one event do not contradict, and a delete asks again', async () => {
    const { id, mine, theirs } = await openTwice();
    await note(id, { body: 'Nobody can pay' });
    const article = (page: Page) => page.getByRole('article').filter({ hasText: /Nobody|Text of/ });
    await article(mine).getByRole('button', { name: 'Edit' }).click();
    await mine.getByLabel('Text of the event').fill('Nobody in Asia can pay');
    await article(theirs).getByRole('button', { name: 'Key event' }).click();
    await article(theirs).getByText('Key event', { exact: true }).waitFor();
    await article(theirs).getByRole('button', { name: 'Delete' }).click();
    await save(mine);
    await eventually(async () => (await bodies(id)).includes('Nobody in Asia can pay'));
    await article(mine).locator('p', { hasText: 'Nobody in Asia can pay' }).waitFor();
    await article(mine).getByText('Key event', { exact: true }).waitFor();
    await theirs.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await theirs.getByText('Somebody changed this event meanwhile').waitFor();
    await theirs.getByRole('dialog').getByText('Nobody in Asia can pay').waitFor();
    expect(await bodies(id)).toEqual(['Nobody in Asia can pay']);
    await theirs.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await article(mine).waitFor({ state: 'detached' });
    await mine.getByText('deleted the event').waitFor();
    expect(await bodies(id)).toEqual([]);
  });

  test('every property asks, with names and labels, before one of two versions is lost', async () => {
    const team = (await client().post('/api/v1/teams', { name: 'Platform' })).body.team;
    await client().post('/api/v1/teams', { name: 'Payments' });
    await client().post('/api/v1/services', { name: 'Checkout' });
    const { id, mine } = await openMine({ service: 'search', team_id: team.id });
    const { user } = (await client().get('/api/v1/me')).body;
    const people = (await client().get('/api/v1/settings/users')).body.users;
    const bea = people.find(({ name }: { name: string }) => name === 'Bea');
    /** What they save over the API, and what is written and chosen on the page. */
    const cases: [name: string, theirs: object, write: (page: Page) => Promise<unknown>, asked: string[]][] = [
      ['Title', { title: 'Theirs' }, (page) => page.getByLabel('Title').fill('Mine'), ['Title', 'Theirs', 'Mine']],
      [
        'Impact summary',
        { impact_summary: 'Few notice' },
        (page) => page.getByLabel('Impact summary').fill('Many notice'),
        ['Impact summary', 'Few notice', 'Many notice'],
      ],
      [
        'Severity',
        { severity: 'sev2' },
        (page) => page.getByRole('combobox', { name: 'Severity' }).selectOption('sev1'),
        ['Severity', 'SEV 2', 'SEV 1'],
      ],
      [
        'Status',
        { status: 'monitoring' },
        (page) => page.getByRole('combobox', { name: 'Status' }).selectOption('Active'),
        ['Status', 'Monitoring', 'Active'],
      ],
      [
        'Lead',
        { incident_manager: String(bea.id) },
        (page) => page.getByRole('combobox', { name: 'Lead' }).selectOption(String(user.id)),
        ['Lead', 'Bea', 'You'],
      ],
      [
        'Service',
        { service: 'checkout' },
        (page) => page.getByLabel('Service').fill('reports'),
        ['Service', 'Checkout', 'reports'],
      ],
      [
        'Team',
        { team_id: null },
        (page) => page.getByRole('combobox', { name: 'Team' }).selectOption('Payments'),
        ['Team', 'none', 'Payments'],
      ],
      [
        'Customers',
        { customer_impact_status: 'none' },
        (page) => page.getByRole('combobox', { name: 'Customers' }).selectOption('Affected'),
        ['Customers', 'Not affected', 'Affected'],
      ],
      [
        'Recovered',
        { recovered_at: '2026-03-01T10:00:00.000Z' },
        (page) => page.getByLabel('Recovered').fill('2026-03-01T11:00'),
        ['Recovered', 'Mar 1, 2026, 10:00 AM', 'Mar 1, 2026, 11:00 AM'],
      ],
      [
        'Call',
        { meet_url: 'https://meet.example.com/theirs' },
        (page) => page.getByLabel('Call').fill('https://meet.example.com/mine'),
        ['Call', 'https://meet.example.com/theirs', 'https://meet.example.com/mine'],
      ],
    ];
    for (const [name, theirs, write, asked] of cases) {
      await edit(mine, name);
      await write(mine);
      await client().patch(`/api/v1/incidents/${id}`, theirs, at((await incident(id)).revision));
      await save(mine);
      expect(await cells(mine)).toEqual(asked);
      expect(await incident(id)).toMatchObject(theirs);
      await answer(mine, 'Keep theirs');
      await mine.getByRole('button', { name: new RegExp(`^Edit ${name}`) }).waitFor();
      expect(await incident(id)).toMatchObject(theirs);
    }
  });

  test('lists show what was added and removed, and both can stay', async () => {
    const { id, mine, theirs } = await openTwice({ regions: ['eu', 'us'] });
    const write = async (page: Page, regions: string) => {
      await edit(page, 'Regions');
      await page.getByLabel('Regions').fill(regions);
    };
    await write(mine, 'eu, us, asia');
    await write(theirs, 'eu, africa');
    await save(theirs);
    await theirs.getByRole('button', { name: /^Edit Regions/ }).waitFor();
    await save(mine);
    expect(await cells(mine)).toEqual(['Regions', 'added africa; removed us', 'added asia']);
    expect(await findings(mine)).toEqual(CLEAN);
    await answer(mine, 'Save both');
    await eventually(async () => (await incident(id)).regions.join() === 'eu,africa,asia');
    const responders = async (page: Page) => {
      await edit(page, 'Responders');
      await page.getByLabel('Bea').check();
      await save(page);
    };
    await responders(mine);
    await mine.getByRole('button', { name: 'Edit Responders: Bea' }).waitFor();
  });

  test.each([
    ['a text', { field_type: 'string' }, 'Theirs', (page: Page) => page.getByLabel('Value of').fill('Mine'), 'Mine'],
    ['a number', { field_type: 'number' }, 5, (page: Page) => page.getByLabel('Value of').fill('7'), '7'],
    [
      'one of a list',
      {
        field_type: 'select',
        config: {
          options: [
            { value: 'a', label: 'Alpha' },
            { value: 'b', label: 'Beta' },
          ],
        },
      },
      'a',
      (page: Page) => page.getByRole('combobox', { name: 'Value of' }).selectOption('b'),
      'Beta',
    ],
    [
      'several of a list',
      { field_type: 'multi_select', config: { options: ['a', 'b'] } },
      ['a'],
      (page: Page) => page.getByLabel('b', { exact: true }).check(),
      'added b',
    ],
  ])('a custom field with %s is compared with what was shown', async (kind, type, theirs, write, shown) => {
    const name = `Value of ${kind}`;
    const { field } = (await client().post('/api/v1/custom-fields', { name, ...type })).body;
    const { id, mine } = await openMine();
    await edit(mine, name);
    await write(mine);
    const values = [{ field_id: field.id, value: theirs }];
    await client().patch(`/api/v1/incidents/${id}/custom-fields`, { values });
    await save(mine);
    const [label, , value] = await cells(mine);
    expect([label, value]).toEqual([name, shown]);
    expect((await incident(id)).custom_fields[field.slug]).toEqual(theirs);
    await answer(mine, 'Save mine');
    await eventually(
      async () => JSON.stringify((await incident(id)).custom_fields[field.slug]) !== JSON.stringify(theirs),
    );
    await client().delete(`/api/v1/custom-fields/${field.id}`);
  });

  test('who resolves what somebody has closed meanwhile is asked, and keeps the note', async () => {
    const { id, mine, theirs } = await openTwice();
    await mine.getByRole('button', { name: 'Resolve' }).click();
    await mine.getByLabel('Note for the timeline').fill('The provider is back');
    await theirs.getByRole('button', { name: 'Close' }).click();
    await theirs.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await theirs.getByRole('button', { name: 'Reopen' }).waitFor();
    await mine.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
    await mine.getByText('Somebody else set the status to Closed meanwhile. Resolve anyway?').waitFor();
    expect(await incident(id)).toMatchObject({ status: 'closed' });
    await mine.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
    await theirs.getByText('The provider is back').waitFor();
    expect(await incident(id)).toMatchObject({ status: 'resolved' });
  });

  test('a dialogue of the settings saves only what it changes, and asks about the same', async () => {
    const { service } = (await client().post('/api/v1/services', { name: 'Search', description: 'Finds' })).body;
    const page = await open('/catalog');
    const path = `/api/v1/services/${service.id}`;
    const stored = async () => (await client().get(path)).body.service;
    const begin = async (description: string) => {
      const row = page.getByRole('row').filter({ hasText: 'Search' });
      await row.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('dialog').getByLabel('Description').fill(description);
    };
    await begin('Finds everything');
    await client().patch(path, { tier: 't0' }, at((await stored()).revision));
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({ description: 'Finds everything', tier: 't0' });
    await page.getByText('Finds everything').waitFor();
    await begin('Finds products');
    await client().patch(path, { description: 'Finds people' }, at((await stored()).revision));
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    expect(await cells(page)).toEqual(['Description', 'Finds people', 'Finds products']);
    await answer(page, 'Save mine');
    await eventually(async () => (await stored()).description === 'Finds products');
  });
}
