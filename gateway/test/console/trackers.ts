import { expect, test } from '@jest/globals';
import { behave, eventually, type Receiver } from '@tocsin/testing';
import type { Page } from 'playwright-core';
import { type Console, expectSound } from './harness.ts';

const TRACKERS = '/api/v1/settings/trackers';
const ISSUES = '/github/repos/acme/shop/issues';

/** @param receiver stands for GitHub, as its documentation says */
export function testTrackers({ open, client, declare }: Console, receiver: Receiver): void {
  const click = async (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  let state = 'open';
  const respond = (status = 200) => {
    receiver.respond = ({ method, path, body }) => {
      if (!path.startsWith(ISSUES)) return behave.answer(204);
      if (status !== 200) return behave.answer(status);
      if (method === 'GET' && path.includes('?')) return behave.answer(200, {}, '[]');
      if (method === 'PATCH') ({ state } = JSON.parse(body) as { state: string });
      const issue = { number: 7, state, html_url: 'https://github.example/acme/shop/issues/7' };
      return behave.answer(200, {}, JSON.stringify(issue));
    };
  };

  test('a tracker is created, shows the secret of its webhook once, and is tested', async () => {
    const page = await open('/trackers');
    await page.getByText('No tracker so far').waitFor();
    await click(page, 'New tracker');
    const dialog = page.getByRole('dialog', { name: 'New tracker' });
    await dialog.getByLabel('Name').fill('Issues of the shop');
    await dialog.getByLabel('Address').fill(receiver.url('/github'));
    await dialog.getByLabel('Repository').fill('shop');
    await dialog.getByLabel('Fine-grained token').fill('github_pat_1');
    await click(page, 'Create');
    await dialog.getByText('Must be a repository, as `owner/name`').waitFor();
    await dialog.getByLabel('Repository').fill('acme/shop');
    await dialog.getByLabel('Make a ticket of each new follow-up').check();
    await dialog.getByText('Severities: all').waitFor();
    await expectSound(page, 'new-tracker');
    await dialog.getByLabel('Make a ticket of each new follow-up').uncheck();
    await click(page, 'Create');
    const secret = page.getByRole('dialog', { name: 'The secret of the webhook' });
    await secret.getByText(/^tracksec_/).waitFor();
    await secret.getByText(/\/hooks\/trackers\/\d+$/).waitFor();
    await expectSound(page, 'tracker-secret');
    await click(page, 'Done');
    await page.getByText('GitHub · https://localhost · acme/shop').waitFor();
    respond(401);
    await click(page, 'Test');
    await page.getByText('Tickets cannot be made. It does not accept the token').waitFor();
    await expectSound(page, 'trackers');
    respond();
    await click(page, 'Test');
    await page.getByText('The tracker knows the project.').waitFor();
  });

  test('a follow-up shows its ticket, what has failed, and what can be done', async () => {
    const { id } = await declare('With a ticket');
    await client().post(`/api/v1/incidents/${id}/follow-ups`, { title: 'Alert on the pool' });
    const page = await open(`/incidents/${id}`);
    respond(422);
    await click(page, 'Create ticket');
    await page.getByText('It answered 422.').waitFor();
    await expectSound(page, 'ticket-failed');
    respond();
    await click(page, 'Try again');
    await page.getByRole('link', { name: 'acme/shop#7' }).waitFor();
    await expectSound(page, 'ticket');
    await click(page, 'Done');
    await eventually(() => state === 'closed');
    await click(page, 'Unlink ticket');
    await page.getByRole('button', { name: 'Create ticket' }).waitFor();
    const [tracker] = (await client().get(TRACKERS)).body.trackers;
    expect((await client().post(`${TRACKERS}/${tracker.id}/archive`)).status).toBe(200);
  });
}
