import { expect, test } from '@jest/globals';
import { behave, type Receiver } from '@tocsin/testing';
import { type Console, expectSound, NARROW, WIDE } from './harness.ts';

const CALENDAR = '/calendar/secret.ics';
const DAY = 86_400_000;

/** @param receiver stands for a server of calendars; other requests to it are those of webhooks */
export function testOnCall({ open, client }: Console, receiver: Receiver): void {
  const stamp = (days: number) => new Date(Date.now() + days * DAY).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const shift = (name: string, from: number, until: number) =>
    `BEGIN:VEVENT\r\nUID:${name}\r\nSUMMARY:${name}\r\nDTSTART:${stamp(from)}\r\nDTEND:${stamp(until)}\r\nEND:VEVENT`;
  const respond = (...events: string[]) => {
    const text = ['BEGIN:VCALENDAR', ...events, 'END:VCALENDAR', ''].join('\r\n');
    receiver.respond = ({ path }) => (path === CALENDAR ? behave.answer(200, {}, text) : behave.answer(204));
  };
  const configure = async (on_call_lead: string) => {
    const page = await open('/configuration');
    await page.getByLabel('Who is on call for the team').selectOption(on_call_lead);
    await expectSound(page, `on-call-lead-${on_call_lead}`);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The configuration is saved.').waitFor();
  };
  const latest = async () => (await client().get('/api/v1/incidents?limit=1')).body.incidents[0];

  test('who is on call is set on the team, by keyboard, and shown there and on its services', async () => {
    const page = await open('/catalog/teams/1');
    const card = page.getByRole('region', { name: 'On call' });
    await card.getByText('The team has no calendar or schedule that says it.').waitFor();
    await card.getByRole('button', { name: 'Say who is on call' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Who is on call?' });
    await dialog.getByLabel('Where does it stand?').selectOption('A schedule of PagerDuty');
    await dialog.getByLabel('Key of the REST API').waitFor();
    await expectSound(page, 'on-call-pagerduty');
    await dialog.getByLabel('Where does it stand?').selectOption('A calendar (iCalendar)');
    const address = dialog.getByLabel('Address');
    await address.fill(receiver.url('/nowhere'));
    await page.keyboard.press('Enter');
    await dialog.getByText('Cannot be read: it does not have the expected form').waitFor();
    expect(await address.getAttribute('aria-invalid')).toBe('true');
    respond(shift('Person 1', -1, 1), shift('Somebody else', 1, 2));
    await address.fill(receiver.url(CALENDAR));
    await page.keyboard.press('Enter');
    await card.getByText(/^Person 1 until /).waitFor();
    await card.getByText(/^Somebody else \(no user\) from /).waitFor();
    expect(await card.textContent()).not.toContain('secret');
    await expectSound(page, 'on-call');
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectSound(page, 'on-call-dark-narrow');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(WIDE);
    await page.getByRole('link', { name: 'Checkout' }).click();
    await page.getByRole('heading', { name: 'Checkout', level: 1 }).waitFor();
    await card.getByText(/^Person 1 until /).waitFor();
    expect(await card.getByRole('button').count()).toBe(0);
  });

  test('who is on call is suggested as the lead, and can be left out', async () => {
    await configure('suggest');
    const page = await open();
    const declare = async (title: string, lead?: string) => {
      await page.keyboard.press('c');
      const dialog = page.getByRole('dialog', { name: 'Declare an incident' });
      await page.keyboard.type(title);
      await dialog.getByLabel('Service').selectOption('Checkout');
      await dialog.getByText('Person 1 is on call.').waitFor();
      const chosen = dialog.getByLabel('Lead').locator('option:checked');
      await chosen.filter({ hasText: 'Person 1' }).waitFor({ state: 'attached' });
      await expectSound(page, 'declare-suggested');
      if (lead !== undefined) await dialog.getByLabel('Lead').selectOption(lead);
      await dialog.getByRole('button', { name: 'Declare' }).click();
      await page.getByRole('heading', { name: title }).waitFor();
    };
    const { user } = (await client().get('/api/v1/me')).body;
    await declare('Suggested');
    expect(await latest()).toMatchObject({ title: 'Suggested', incident_manager: String(user.id) });
    await declare('Left out', 'Nobody yet');
    expect(await latest()).toMatchObject({ title: 'Left out', incident_manager: '' });
  });

  test('who is on call leads, if the workspace wants that, until the source is removed', async () => {
    await configure('set');
    const page = await open();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Declare an incident' });
    await page.keyboard.type('Led');
    await dialog.getByLabel('Service').selectOption('Checkout');
    await dialog.getByText('Person 1 is on call and will lead.').waitFor();
    await expectSound(page, 'declare-set');
    await dialog.getByRole('button', { name: 'Declare' }).click();
    await page.getByRole('heading', { name: 'Led' }).waitFor();
    expect((await latest()).incident_manager).not.toBe('');

    await page.goto(page.url().replace(/incidents\/.*/, 'catalog/teams/1'));
    const card = page.getByRole('region', { name: 'On call' });
    await card.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog', { name: 'Remove who is on call?' }).getByRole('button', { name: 'Remove' }).click();
    await card.getByText('The team has no calendar or schedule that says it.').waitFor();
    await configure('off');
  });
}
