import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { Page } from 'playwright-core';
import { type Console, expectSound, NARROW, OWNER } from './harness.ts';

const USERS = '/api/v1/settings/users';
/** More than two pages of the API. */
const MANY = 230;
/** Names that nothing else has. */
const READER = { name: 'عبد الرحمن 🚒', email: 'reader@acme.example', role: 'viewer', seat: 'none' };
const LONG = {
  name: 'Wolfeschlegelsteinhausenbergerdorff'.repeat(3),
  email: `${'long.'.repeat(20)}address@acme.example`,
};

export function testPeople({ open, openWatched, client, addPerson }: Console): void {
  const rows = (page: Page) => page.locator('tbody tr');
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

  test('people are shown with what they may do, their teams, and when they were here', async () => {
    const { user } = (await client().post(USERS, READER)).body;
    await client().post(USERS, LONG);
    const teams: number[] = [];
    for (const name of ['On duty', 'Ledger', 'Tills', 'Refunds']) {
      const { team } = (await client().post('/api/v1/teams', { name })).body;
      teams.push(team.id);
      await client().post(`/api/v1/teams/${team.id}/members`, {
        user_id: user.id,
        role: name === 'Ledger' ? 'lead' : 'member',
      });
    }
    const { page, problems } = await openWatched('/users');
    const reader = row(page, READER.email);
    await reader.getByText('The lowest role').waitFor();
    await reader.getByText('Reads incidents').waitFor();
    await reader.getByText('never').waitFor();
    await reader.getByText('On duty, Ledger (lead) and 2 more').waitFor();
    await row(page, OWNER).getByText('Manages and deletes everything').waitFor();
    await row(page, OWNER)
      .getByText(/^now$|ago$/)
      .waitFor();
    await expectSound(page, 'people');
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectSound(page, 'people-dark-narrow');
    await reader.getByRole('link', { name: 'Ledger' }).click();
    await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('filters are in the address, and an empty list offers everybody', async () => {
    const page = await open('/users?role=viewer&seat=none');
    await row(page, READER.email).waitFor();
    expect(await row(page, OWNER).count()).toBe(0);
    expect(await page.getByLabel('Role').inputValue()).toBe('viewer');
    await page.getByLabel('State').selectOption('Deactivated');
    await page.getByRole('heading', { name: 'Nobody matches' }).waitFor();
    await expectSound(page, 'people-empty');
    await page.reload();
    await page.getByRole('heading', { name: 'Nobody matches' }).waitFor();
    await page.getByRole('button', { name: 'Show everybody' }).click();
    await row(page, OWNER).waitFor();
    await page.getByLabel('Team').selectOption('On duty');
    await eventually(async () => (await rows(page).count()) === 1);
    await row(page, READER.email).waitFor();
    expect(page.url()).toMatch(/\/users\?team=\d+$/);
    await page.getByLabel('Team').selectOption('Any team');
    await page.getByLabel('Search people').fill('ADDRESS@acme');
    await eventually(async () => page.url().includes('q=ADDRESS'));
    await row(page, LONG.email).waitFor();
    await eventually(async () => (await rows(page).count()) === 1);
  });

  test('a list of hundreds goes on by itself, with one request for the teams of each hundred', async () => {
    const numbers = Array.from({ length: MANY }, (_, index) => String(index).padStart(3, '0'));
    // As many at a time as a busy server takes.
    for (let first = 0; first < MANY; first += 10) {
      const created = numbers
        .slice(first, first + 10)
        .map(async (number) => client().post(USERS, { name: `Crew ${number}`, email: `crew-${number}@acme.example` }));
      for (const { status } of await Promise.all(created)) expect(status).toBe(201);
    }
    const page = await open('/users?q=crew-');
    const asked: string[] = [];
    page.on('request', (request) => {
      // Of the document that is shown at the end.
      if (request.isNavigationRequest()) asked.length = 0;
      else if (request.url().includes('/team-memberships')) asked.push(request.url());
    });
    await page.reload();
    await row(page, 'crew-000@').waitFor();
    await eventually(async () => {
      await page.mouse.wheel(0, 20_000);
      return (await rows(page).count()) === MANY;
    });
    await page.getByText(`${MANY} people`).waitFor();
    expect(asked.length).toBeLessThanOrEqual(Math.ceil(MANY / 100));
  });

  test('whoever does not manage people reads the list, without what it says of colleagues', async () => {
    const email = await addPerson('Onlooker');
    const page = await open('/users?q=onlooker', { email });
    await row(page, 'Onlooker (you)').waitFor();
    for (const name of ['Last seen', 'Actions']) expect(await page.getByRole('columnheader', { name }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Invite|Edit|More/ }).count()).toBe(0);
  });

  test('who has left is deactivated after a question, and comes back, with the keyboard alone', async () => {
    const email = await addPerson('Leaver');
    const page = await open('/users?q=leaver');
    const more = page.getByRole('button', { name: 'More for Leaver' });
    await more.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Deactivate' }).focus();
    await expectSound(page, 'people-menu');
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Deactivate Leaver?' });
    await question.waitFor();
    await page.keyboard.press('Escape');
    // The focus is where it was.
    await eventually(async () =>
      page.evaluate<boolean>("document.activeElement.getAttribute('aria-label') === 'More for Leaver'"),
    );
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Deactivate' }).press('Enter');
    await question.getByRole('button', { name: 'Deactivate' }).press('Enter');
    await row(page, email).getByText('Deactivated').waitFor();
    await more.press('Enter');
    await page.getByRole('button', { name: 'Activate' }).press('Enter');
    await row(page, email).getByText('Deactivated').waitFor({ state: 'detached' });
  });
}
