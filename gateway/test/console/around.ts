import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { Page } from 'playwright-core';
import { withClient } from '../../../infra/installation/databases.ts';
import { at, type Console, expectSound, NARROW, WIDE } from './harness.ts';

/** What surrounds an incident: relations, follow-ups, earlier revisions, and other incidents of a list. */
export function testAround({ open, client, system, origin, addPerson, declare, incident, problems }: Console): void {
  const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const dialog = (page: Page) => page.getByRole('dialog');
  const patch = async (id: number, changes: object) =>
    client().patch(`/api/v1/incidents/${id}`, changes, at((await incident(id)).revision));

  test('a duplicate is found by its words, related, closed on offer, and shown to both', async () => {
    const [original, duplicate] = [await declare('Cards are refused'), await declare('Nobody can pay by card')];
    const [page, other] = [await open(`/incidents/${duplicate.human_id}`), await open(`/incidents/${original.id}`)];
    await card(other, 'Relations').getByText('No related incident').waitFor();
    await card(page, 'Relations').getByRole('button', { name: 'Relation' }).click();
    const field = page.getByLabel('Which incident?');
    for (const [reference, reason] of [
      ['INC-9999', 'There is no incident with this reference'],
      [String(duplicate.id), 'Must be another incident'],
    ] as const) {
      await field.fill(reference);
      await page.keyboard.press('Enter');
      await eventually(async () => (await field.getAttribute('aria-invalid')) === 'true');
      await dialog(page).getByText(reason).waitFor();
    }
    await field.fill('cards are');
    await page.locator(`datalist option[value=${original.human_id}]`).waitFor({ state: 'attached' });
    await field.fill(original.human_id.toLowerCase());
    await expectSound(page, 'relate');
    await page.keyboard.press('Control+Enter');
    const close = page.getByRole('dialog', { name: `Close ${duplicate.human_id}` });
    expect(await close.getByLabel('Note for the timeline').inputValue()).toBe(`Duplicate of ${original.human_id}`);
    await page.keyboard.press('Control+Enter');
    await close.waitFor({ state: 'detached' });
    await page
      .getByRole('article')
      .filter({ hasText: `Duplicate of ${original.human_id}` })
      .waitFor();
    expect(await incident(duplicate.id)).toMatchObject({ status: 'closed' });

    await card(page, 'Relations').getByText(`Duplicate of ${original.human_id} Cards are refused`).waitFor();
    // The page of the other one has its own words, and follows what becomes of this one.
    const seen = card(other, 'Relations').getByRole('listitem');
    await seen.filter({ hasText: /Duplicated by INC-\d+ Nobody can pay by card.*Closed/ }).waitFor();
    await patch(duplicate.id, { title: 'No card is taken', severity: 'sev1' });
    await seen.filter({ hasText: /No card is taken.*SEV 1/ }).waitFor();
    await seen.getByRole('button', { name: 'Remove' }).click();
    await card(page, 'Relations').getByText('No related incident').waitFor();
    await page.getByText(`took back that it is a duplicate of ${original.human_id}`).waitFor();
    expect(problems().filter((problem) => !/40[04]/.test(problem))).toEqual([]);
  });

  test('what is similar is shown, and becomes related or the original with one button', async () => {
    const [original, near] = [await declare('Ledger exports are late'), await declare('Ledger exports time out')];
    const long = `Ledger exports ${'وتقارير 报告 🔥 '.repeat(14)}`.trim();
    const { human_id: name, id } = await declare(long);
    const page = await open(`/incidents/${name}`);
    const similar = card(page, 'Similar');
    await similar.getByRole('button', { name: `Related to ${near.human_id}` }).click();
    await card(page, 'Relations').getByText(near.human_id).waitFor();
    await similar.getByText(near.human_id).waitFor({ state: 'detached' });
    await expectSound(page, 'similar');
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectSound(page, 'similar-narrow-dark');
    await similar.getByRole('button', { name: `Duplicate of ${original.human_id}` }).press('Enter');
    const close = page.getByRole('dialog', { name: `Close ${name}` });
    expect(await close.getByLabel('Note for the timeline').inputValue()).toBe(`Duplicate of ${original.human_id}`);
    await page.keyboard.press('Control+Enter');
    await close.waitFor({ state: 'detached' });
    await similar.getByText('No similar incident').waitFor();
    expect(await incident(id)).toMatchObject({ status: 'closed' });
    // The focus is in the page, where the keys of people are.
    expect(await page.evaluate('document.activeElement !== document.body')).toBe(true);
    const theirs = await open(`/incidents/${original.human_id}`);
    await card(theirs, 'Similar').getByText(near.human_id).waitFor();
  });

  test('follow-ups are added, done, changed by two people and deleted, and stand on their page', async () => {
    const { user } = (await client().get('/api/v1/me')).body;
    const email = await addPerson('Flo');
    const people = (await client().get('/api/v1/settings/users')).body.users;
    const flo = people.find(({ name }: { name: string }) => name === 'Flo');
    const team = (await client().post('/api/v1/teams', { name: 'Storage' })).body.team;
    await client().post(`/api/v1/teams/${team.id}/members`, { user_id: flo.id });
    const { id, human_id: reference } = await declare('The disk was full');
    const add = async (values: object) =>
      (await client().post(`/api/v1/incidents/${id}/follow-ups`, values)).body.follow_up;

    const page = await open(`/incidents/${reference}`);
    const row = (title: string, on = page) =>
      on.locator('li:not(section[aria-label=Activity] li)').filter({ hasText: title });
    await card(page, 'Follow-ups').getByRole('button', { name: 'Follow-up' }).click();
    await page.getByLabel('What is to be done?').fill('Alert on disks');
    await page.getByLabel('Owner').selectOption('Person 1');
    await page.getByLabel('Due').fill('2026-01-31');
    await page.getByLabel('Link', { exact: true }).fill('javascript:alert(1)');
    await page.keyboard.press('Control+Enter');
    await eventually(async () => (await page.getByLabel('Link').getAttribute('aria-invalid')) === 'true');
    await expectSound(page, 'follow-up-refused');
    await page.getByLabel('Link', { exact: true }).fill('https://tickets.example.com/OPS-7');
    await page.keyboard.press('Control+Enter');
    await row('Alert on disks').filter({ hasText: 'Overdue' }).getByText('due Jan 31, 2026').waitFor();
    const link = row('Alert on disks').getByRole('link', { name: 'tickets.example.com' });
    expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
      ...['https://tickets.example.com/OPS-7', 'noopener noreferrer'],
    ]);
    // What others do arrives.
    const larger = await add({ title: 'Buy larger disks', owner: String(flo.id), description: 'Ask **finance**' });
    await row('Buy larger disks').waitFor();

    await row('Buy larger disks').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What is to be done?').fill('Rent larger disks');
    const path = `/api/v1/follow-ups/${larger.id}`;
    await client().patch(path, { title: 'Buy two larger disks' }, at(larger.revision));
    await page.keyboard.press('Control+Enter');
    const conflict = page.getByRole('dialog', { name: 'Somebody else changed this, too' });
    await conflict.getByText('Buy two larger disks').waitFor();
    await conflict.getByRole('button', { name: 'Save mine' }).click();
    await row('Rent larger disks').getByRole('button', { name: 'Drop' }).click();
    await row('Rent larger disks').getByText('Dropped').waitFor();
    await row('Rent larger disks').getByRole('button', { name: 'Reopen' }).click();
    await row('Rent larger disks').getByRole('button', { name: 'Done', exact: true }).waitFor();
    expect((await client().get(path)).body.follow_up).toMatchObject({ title: 'Rent larger disks', status: 'open' });

    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await page.waitForURL(`${origin()}/app/follow-ups`);
    const titles = async () => page.locator('[data-rows] > li > p:first-child').allTextContents();
    const shows = async (...expected: string[]) => eventually(async () => (await titles()).join() === expected.join());
    await shows('Alert on disks Overdue');
    await add({ title: 'Delete old logs', owner: String(user.id), due_on: '2099-01-01' });
    await shows('Alert on disks Overdue', 'Delete old logs ');
    await page.getByRole('button', { name: 'Overdue' }).click();
    await shows('Alert on disks Overdue');
    await page.getByLabel('Team of the owner').selectOption('Storage');
    await page.getByText('No follow-up matches').waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await shows('Rent larger disks ');
    await page.reload();
    await row('Rent larger disks')
      .getByRole('link', { name: `${reference} The disk was full` })
      .waitFor();
    await row('Rent larger disks').getByText('Description').click();
    await row('Rent larger disks').locator('strong', { hasText: 'finance' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('logs');
    await page.getByText('No follow-up matches').waitFor();
    await page.getByLabel('Team of the owner').selectOption('Any owner');
    await shows('Delete old logs ');
    await row('Delete old logs').getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByText('No follow-up matches').waitFor();
    await page.getByLabel('Status').selectOption('Done');
    await row('Delete old logs').getByRole('button', { name: 'Delete' }).click();
    await page.keyboard.press('Control+Enter');
    await dialog(page).waitFor({ state: 'detached' });
    await page.getByText('No follow-up matches').waitFor();

    await client().post(`/api/v1/incidents/${id}/archive`, {});
    const theirs = await open('/follow-ups', { email });
    await row('Rent larger disks', theirs).getByRole('link', { name: reference }).click();
    await theirs.getByRole('button', { name: 'Restore' }).waitFor();
    await row('Rent larger disks', theirs).waitFor();
    expect(await theirs.getByRole('button', { name: /^(Relation|Follow-up|Done|Edit|Remove)/ }).count()).toBe(0);
    await theirs.goBack();
    await row('Rent larger disks', theirs).waitFor();
    expect(
      await theirs
        .getByRole('main')
        .getByRole('button', { name: /^(Done|Edit)$/ })
        .count(),
    ).toBe(0);
  });

  test('a team’s follow-ups are found beyond the first page, and no page is left out', async () => {
    await addPerson('Gus');
    const people = (await client().get('/api/v1/settings/users?q=gus')).body.users;
    const { team } = (await client().post('/api/v1/teams', { name: 'Rare' })).body;
    await client().post(`/api/v1/teams/${team.id}/members`, { user_id: people[0].id });
    const { id } = await declare('Much to do');
    await withClient(system().database.adminUrl, async (database) =>
      database.query(
        `insert into incident.follow_ups (workspace_id, incident_id, revision, title, description, texts_folded, owner,
           due_on, status, external_url, created_at, created_by, updated_at)
         select workspace_id, id, 1, 'Chore ' || n, '', array['chore ' || n, ''], '', '2030-01-01', 'open', '',
           created_at, created_by, created_at
         from incident.incidents, generate_series(1, 110) as n where id = $1`,
        [id],
      ),
    );
    await client().post(`/api/v1/incidents/${id}/follow-ups`, { title: 'The last', owner: String(people[0].id) });
    const page = await open(`/follow-ups?view=all&team=${team.id}`);
    await page.getByText('The last').waitFor();
    expect(await page.locator('[data-rows] > li').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
  });

  test('an entry of the activity shows the incident as it was, and what is not recorded', async () => {
    const { id, human_id: reference } = await declare('Slow', { severity: 'sev2', impact_summary: 'x'.repeat(5_000) });
    await patch(id, { severity: 'sev1', title: 'Slower' });
    await patch(id, { impact_summary: 'Everybody waits' });
    const page = await open(`/incidents/${reference}`);
    await page.getByRole('button', { name: '2 changes' }).click();
    const entry = page.getByRole('listitem').filter({ hasText: 'changed the severity' }).last();
    await entry.hover();
    await entry.getByRole('link', { name: 'As of here' }).click();
    await page.getByText(`${reference} as it was at revision 2.`).waitFor();
    await page.getByText(/Not recorded.*Duration.*Impact summary/).waitFor();
    await page.getByText('Not recorded', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Slower' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Edit|Resolve)/ }).count()).toBe(0);
    await page.goto(`${origin()}/app/incidents/${id}?revision=1`);
    await page.getByText(`${reference} as it was at revision 1.`).waitFor();
    await page.getByRole('heading', { name: 'Slow', exact: true }).waitFor();
    await page.getByRole('link', { name: 'As it is now' }).click();
    await page.getByText('Everybody waits').first().waitFor();
    await page.goto(`${origin()}/app/incidents/${id}?revision=99`);
    await page.getByText('Must be at most 3').waitFor();
  });

  test('several incidents are changed at once, and each that is not says why', async () => {
    const batch = [];
    for (const number of [1, 2, 3]) batch.push(await declare(`Batch ${number}`, { severity: 'sev3' }));
    const ids: number[] = batch.map(({ id }) => id);
    const [first = '', second = '', third = '']: string[] = batch.map(({ human_id: name }) => name);
    const page = await open('/?q=Batch&view=ongoing');
    const box = (name: string) => page.getByLabel(`Select ${name}`, { exact: true });
    const bar = page.getByRole('group', { name: 'Selected incidents' });
    await box(third).waitFor();
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await bar.getByText('2 selected').waitFor();
    expect([await box(third).isChecked(), await box(second).isChecked()]).toEqual([true, true]);
    await page.getByLabel('Select all').check();
    await bar.getByText('3 selected').waitFor();
    await page.setViewportSize(NARROW);
    await expectSound(page, 'selected-narrow');
    await page.setViewportSize(WIDE);
    await bar.getByLabel('Set the severity').selectOption('SEV 1');
    await dialog(page).getByText(`${third}, ${second}, ${first}`).waitFor();
    const bulkRequest = page.waitForRequest((request) => request.url().endsWith('/incidents/bulk'));
    // Somebody else is faster at one of them.
    await patch(ids[1] ?? 0, { title: 'Batch 2, changed' });
    await page.keyboard.press('Control+Enter');
    expect((await bulkRequest).headers()['idempotency-key']).toBeDefined();
    await page.getByRole('dialog', { name: '1 of 3 incidents could not be changed' }).waitFor();
    const results = dialog(page).getByRole('row');
    await results.filter({ hasText: first }).getByText('Done').waitFor();
    expect(await results.filter({ hasText: second }).textContent()).toContain('Somebody else changed it meanwhile');
    await expectSound(page, 'bulk-results');
    await page.keyboard.press('Escape');
    await bar.getByText('1 selected').waitFor();
    expect(await Promise.all(ids.map(async (id) => (await incident(id)).severity))).toEqual(['sev1', 'sev3', 'sev1']);

    await page.getByLabel('Select all').check();
    await bar.getByRole('button', { name: 'Resolve' }).click();
    await dialog(page).getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('3 incidents are changed.').waitFor();
    await page.getByRole('button', { name: /^All/ }).click();
    await page.getByLabel('Select all').check();
    await eventually(async () => (await bar.getByRole('button').allTextContents()).join() === 'Reopen,Archive');
    await bar.getByRole('button', { name: 'Archive' }).click();
    await page.keyboard.press('Control+Enter');
    await page.getByText('No incident matches').waitFor();
    await page.getByRole('button', { name: /^Archived/ }).click();
    await box(first).check();
    await eventually(async () => (await bar.getByRole('button').allTextContents()).join() === 'Restore');
    await bar.getByRole('button', { name: 'Restore' }).click();
    await page.keyboard.press('Control+Enter');
    await page.getByText('1 incident is changed.').waitFor();
    expect(await incident(ids[0] ?? 0)).toMatchObject({ archived_at: null, status: 'resolved' });
  });
}
