import { expect, test } from '@jest/globals';
import { behave, type Receiver } from '@tocsin/testing';
import type { Page } from 'playwright-core';
import { type Console, expectSound, NARROW, WIDE } from './harness.ts';

const WEBHOOKS = '/api/v1/settings/webhooks';
const DELIVERIES = '/api/v1/settings/webhook-deliveries';
const HOOK = '/hook';
/** Written by whoever answers at the address. */
const HOSTILE = '<!doctype html><script>document.title = "taken"</script><b>down</b>';

/** @param receiver one of webhooks; other requests to it are those of chats and calendars */
export function testWebhooks(
  { open, openWatched, client, declare, addPerson, origin }: Console,
  receiver: Receiver,
): void {
  const respond = (behaviour: ReturnType<typeof behave.answer>) =>
    (receiver.respond = ({ path }) => (path === HOOK ? behaviour : behave.answer(204)));
  const click = async (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const stored = async () => (await client().get(WEBHOOKS)).body.webhooks;
  const received = () => receiver.requests.filter(({ path }) => path === HOOK);
  const row = (page: Page, reference: string) => page.getByRole('listitem').filter({ hasText: reference });

  /** As a page is on a desk and, in the dark, on a phone, where a thumb hits what it is for. */
  const expectSoundEverywhere = async (page: Page, name: string) => {
    await expectSound(page, name);
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectSound(page, `${name}-dark-narrow`);
    const small =
      await page.evaluate(`[...document.querySelectorAll('main :is(button, summary, a[class*=button], a[class*=above])')]
      .filter((part) => part.checkVisibility() && part.getBoundingClientRect().height < 43.5)
      .map((part) => part.textContent)`);
    expect({ name, small }).toEqual({ name, small: [] });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(WIDE);
  };

  test('a webhook is created by keyboard, says why it is not verified, and is verified', async () => {
    const page = await open();
    const { keyboard } = page;
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await keyboard.press('g');
    await keyboard.press('w');
    await page.getByText('No webhook so far').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).focus();
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New webhook' }).waitFor();
    await keyboard.type(receiver.url(HOOK));
    await keyboard.press('Tab');
    await keyboard.type('مستقبل المناوبة 🚨');
    await keyboard.press('Control+Enter');
    await page.getByText(/^whsec_/).waitFor();
    await keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: 'مستقبل المناوبة 🚨' }).waitFor();
    await page
      .getByText('It gets nothing yet. Give the secret to the receiver, then verify that it answers.')
      .waitFor();
    await page.getByText('Nothing was sent so far').waitFor();
    await expectSoundEverywhere(page, 'webhook-new');
    respond(behave.answer(403));
    await page.getByRole('button', { name: 'Verify' }).focus();
    await keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Not verified' });
    await dialog.getByText('It answered 403 instead of 2xx.').waitFor();
    await expectSound(page, 'not-verified');
    respond(behave.answer(204));
    await keyboard.press('Control+Enter');
    await page.getByText('The receiver answered. The webhook is active.').waitFor();
    await page.getByText('It gets every incident that is declared.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Webhooks' }).last().click();
    await page.getByRole('listitem').filter({ hasText: 'Active' }).getByText('https://localhost').waitFor();
    await expectSoundEverywhere(page, 'webhooks');
    await keyboard.press('j');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'مستقبل المناوبة 🚨' }).waitFor();
  });

  test('a test shows what the receiver answers as text, and changes nothing', async () => {
    const [webhook] = await stored();
    const { page, problems } = await openWatched(`/webhooks/${webhook.id}`);
    respond(behave.answer(503, { 'Content-Type': 'text/html' }, HOSTILE));
    await click(page, 'Test');
    const dialog = page.getByRole('dialog', { name: 'Test of' });
    await dialog
      .getByText('The receiver did not accept the request. Answered 503 Service Unavailable, after')
      .waitFor();
    await dialog.getByText(HOSTILE).waitFor();
    await expectSoundEverywhere(page, 'webhook-tested');
    respond(behave.answer(200, {}, 'ok'));
    await click(page, 'Test again');
    await dialog.getByText('The receiver accepted the request. Answered 200 OK, after').waitFor();
    await dialog.getByText('ok', { exact: true }).waitFor();
    await click(page, 'Done');
    expect(await page.title()).toBe('مستقبل المناوبة 🚨 · Tocsin');
    expect(problems).toEqual([]);
    expect(await stored()).toEqual([webhook]);
  });

  test('a delivery shows its attempts while they happen, and is sent again once it has failed', async () => {
    const [{ id }] = await stored();
    const headers = { 'Content-Type': 'text/html' };
    respond(behave.answer(503, { ...headers, 'Retry-After': '1800' }, HOSTILE));
    const { human_id: postponed } = await declare('The receiver is ill 🔥');
    const { page, problems } = await openWatched(`/webhooks/${id}`);
    await row(page, postponed).getByText('1 attempt: Answered 503 Service Unavailable').waitFor();
    await row(page, postponed).getByRole('link').first().click();
    await page.getByRole('heading', { name: `Delivery of ${postponed}` }).waitFor();
    await page.getByText(/^Waits for attempt 2, at \d\d:\d\d\. Before: Answered 503 Service Unavailable\.$/).waitFor();
    await page.getByText(HOSTILE).waitFor();
    expect(await page.getByRole('button', { name: 'Send again' }).getAttribute('aria-disabled')).toBe('true');
    await page.getByText('It waits already.').waitFor();
    await expectSoundEverywhere(page, 'delivery-waiting');

    respond(behave.answer(500, headers, HOSTILE));
    const { human_id: waiting } = await declare('The receiver comes back');
    await page.goBack();
    await row(page, waiting).getByRole('link').first().click();
    await page.getByText(/^Waits for attempt \d, .* Before: Answered 500 Internal Server Error\.$/).waitFor();
    respond(behave.answer(202, {}, 'thanks'));
    await page.getByText(/^The receiver has it\. Answered 202 Accepted, after \d attempts\.$/).waitFor();
    await page.getByText('thanks', { exact: true }).waitFor();

    respond(behave.answer(422, {}, HOSTILE));
    const { human_id: refused } = await declare('What the receiver does not understand');
    await page.getByRole('link', { name: 'مستقبل المناوبة 🚨' }).click();
    await row(page, refused).getByText('Failed').waitFor();
    await row(page, waiting).getByText('Delivered').waitFor();
    await expectSoundEverywhere(page, 'webhook-failing');
    await click(page, 'Failed');
    await row(page, waiting).waitFor({ state: 'detached' });
    await row(page, refused).waitFor();
    expect(new URL(page.url()).search).toBe('?status=failed');
    // By the keyboard alone, there and back.
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page
      .getByText(/^The receiver did not accept it\. Answered 422 Unprocessable Content, after 1 attempt;/)
      .waitFor();
    await expectSoundEverywhere(page, 'delivery-failed');
    const body = page.getByRole('region', { name: 'Body' });
    await body.getByText('"title": "What the receiver does not understand"').waitFor();
    await body.getByRole('button', { name: 'Copy' }).click();
    expect(received().map((request) => request.body)).toContain(
      await page.evaluate<string>('navigator.clipboard.readText()'),
    );
    await page.goBack();
    await row(page, refused).waitFor();
    expect(new URL(page.url()).search).toBe('?status=failed');
    await page.goForward();
    respond(behave.answer(204));
    await page.getByRole('button', { name: 'Send again' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('It is queued again. This is the new delivery.').waitFor();
    await page.getByText('The receiver has it. Answered 204 No Content, after 1 attempt.').waitFor();
    await page.getByText('sent again by you').waitFor();
    await row(page, 'Answered 422 Unprocessable Content').getByRole('link').first().waitFor();
    await expectSoundEverywhere(page, 'delivery-again');
    const { deliveries } = (await client().get(`${DELIVERIES}?webhook_id=${id}&status=succeeded`)).body;
    expect(deliveries[0]).toMatchObject({ incident: refused, redelivery: 1, attempts: 1 });
    await page.getByRole('link', { name: `Open ${refused}` }).click();
    await page.getByRole('heading', { name: 'What the receiver does not understand' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('a paused webhook sends nothing again and says so; headers, secret and end are among its settings', async () => {
    const [{ id }] = await stored();
    const page = await open(`/webhooks/${id}`);
    await click(page, 'Pause');
    await page.getByText('It is paused by hand, and does not get what is declared meanwhile.').waitFor();
    await expectSoundEverywhere(page, 'webhook-paused');
    await row(page, 'Delivered').first().getByRole('link').first().click();
    await page.getByText('The webhook is paused: verify or resume it first.').waitFor();
    await page.goBack();
    await click(page, 'Resume');
    await page.getByText('It gets every incident that is declared.').waitFor();

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Settings of the webhook' }).waitFor();
    await expectSoundEverywhere(page, 'webhook-settings');
    await click(page, 'Replace headers');
    const headers = page.getByLabel('Headers, one in each line');
    await headers.fill('Content-Length: 7');
    await click(page, 'Replace');
    await page.getByText('Must have Authorization or names that begin with X-').waitFor();
    await headers.fill('X-Team: payments: all');
    await expectSound(page, 'webhook-headers');
    await click(page, 'Replace');
    await page.getByText('X-Team', { exact: true }).waitFor();
    await click(page, 'New secret');
    await page.getByText('For 24 hours, requests are signed with the new and the old secret.').waitFor();
    await click(page, 'Make it');
    await page.getByText(/^whsec_/).waitFor();
    await click(page, 'Done');
    await click(page, 'Revoke');
    await page.getByRole('dialog', { name: 'Revoke this webhook?' }).getByRole('button', { name: 'Revoke' }).click();
    await page.goBack();
    await page.getByText('It has ended for good, and gets nothing.').waitFor();
    await click(page, 'Cancelled');
    await page.getByText('Is not sent any more').waitFor();
    expect(await page.getByRole('button', { name: /^(Test|Pause|Revoke|New secret)$/ }).count()).toBe(0);
    await expectSoundEverywhere(page, 'webhook-revoked');
    expect(await stored()).toMatchObject([{ status: 'revoked' }]);
  });

  test('who may not manage webhooks sees why, and a wrong address leads back', async () => {
    const page = await open('/webhooks/wh_nothing');
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    await expectSound(page, 'webhook-missing');
    await page.getByRole('link', { name: 'All webhooks' }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    const [{ id }] = await stored();
    await page.goto(`${origin()}/app/webhooks/${id}/deliveries/999999`);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    const email = await addPerson('Dana');
    for (const path of [`/webhooks/${id}`, `/webhooks/${id}/deliveries/1`]) {
      const theirs = await open(path, { email });
      await theirs.getByRole('heading', { name: 'You cannot see this page' }).waitFor();
    }
  });
}
