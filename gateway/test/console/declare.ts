import { beforeAll, expect, test } from '@jest/globals';
import { eventually, type startSlack } from '@tocsin/testing';
import { type Console, expectSound, NARROW, WIDE } from './harness.ts';

/** @param slack where the gateway finds Slack */
export function testDeclare(
  { open, client, system, origin, declare }: Console,
  slack: Awaited<ReturnType<typeof startSlack>>,
): void {
  const latest = async () => (await client().get('/api/v1/incidents?limit=1')).body.incidents[0];
  const workspace = ['--workspace', 'acme'];

  beforeAll(async () => {
    await system().as({ role: 'viewer', seat: 'none' });
  });

  test('asks for three fields and who sees it where nothing is required, and names the service from the catalog', async () => {
    const page = await open();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Declare an incident' });
    await dialog.getByRole('button', { name: 'Declare' }).waitFor();
    expect(await dialog.locator('input:visible, select:visible').count()).toBe(4);
    await expectSound(page, 'declare-plain');
    await page.keyboard.type('Cards are refused');
    await dialog.getByLabel('Service').selectOption('Checkout');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Cards are refused' }).waitFor();
    const incident = await latest();
    expect(incident).toMatchObject({ title: 'Cards are refused', service: 'checkout', team_id: 1 });
    expect(page.url()).toBe(`${origin()}/app/incidents/${incident.human_id}`);
  });

  test('shows what is similar while a title is written, moves no field, and leads to the one that it is', async () => {
    const other = await declare('Refunds fail for cards of Zürich 🔥', { service: 'checkout' });
    await declare('بطاقات الدفع مرفوضة');
    const page = await open('/', { viewport: NARROW });
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Declare an incident' });
    const similar = dialog.getByRole('region', { name: 'Similar incidents' });
    await similar.getByText('Similar incidents appear here.').waitFor();
    const before = await dialog.boundingBox();
    let [running, most] = [0, 0];
    const isSimilar = (url: string) => url.includes('/incidents/similar');
    page.on('request', (request) => {
      if (isSimilar(request.url())) most = Math.max(most, (running += 1));
    });
    page.on('requestfinished', (request) => {
      if (isSimilar(request.url())) running -= 1;
    });
    await page.keyboard.type('refunds of cards in ZURICH fail, says zürich', { delay: 20 });
    const row = similar.getByRole('listitem').filter({ hasText: other.human_id });
    await row.waitFor();
    await similar.getByText(/^\d similar incidents?: is it one of them\?$/).waitFor();
    expect(await dialog.boundingBox()).toEqual(before);
    expect(most).toBe(1);
    await expectSound(page, 'declare-similar-narrow');
    await page.setViewportSize(WIDE);
    await expectSound(page, 'declare-similar');
    const tab = page.waitForEvent('popup');
    await row.getByRole('link').click();
    await (await tab).getByRole('heading', { name: 'Refunds fail for cards' }).waitFor();
    const { incidents } = (await client().get('/api/v1/incidents?limit=1')).body;
    await row.getByRole('button', { name: 'It is this one' }).press('Enter');
    await page.getByRole('heading', { name: 'Refunds fail for cards' }).waitFor();
    expect((await latest()).id).toBe(incidents[0].id);
    // What was written is not kept for the next one.
    await page.keyboard.press('c');
    expect(await dialog.getByLabel('What is happening?').inputValue()).toBe('');
  });

  test('asks for what the workspace requires, and creates a channel where chat is connected', async () => {
    const field = (body: object) => client().post('/api/v1/custom-fields', { show_on_creation: true, ...body });
    await field({
      name: 'Region',
      field_type: 'select',
      config: { options: ['eu', 'us'] },
      required_on_creation: true,
    });
    await field({ name: 'Orders', field_type: 'number', config: { precision: 0 }, default_value: 5 });
    await field({ name: 'Later', field_type: 'string', show_on_creation: false });
    await system().admin('workspace', 'set', '--slug', 'acme', '--short-title-required');
    await system().admin('slack', 'connect', ...workspace, '--bot-token', slack.token);
    await eventually(async () => {
      const { workspace: acme } = (await client().get('/api/v1/me')).body;
      return acme.short_title_required === true && acme.chat === true;
    });

    const page = await open('/', { viewport: NARROW });
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Declare an incident' });
    await dialog.getByLabel('Region (required)').waitFor();
    expect(await dialog.getByLabel('Later').count()).toBe(0);
    expect(await dialog.getByLabel('Orders').inputValue()).toBe('5');
    await dialog.getByText('Team and lead').click();
    const leads = dialog.getByLabel('Lead').locator('option');
    await eventually(async () => /^Nobody yet,(?:.+,)?Person 1(?:,|$)/.test((await leads.allTextContents()).join()));
    await expectSound(page, 'declare-all-narrow');

    await dialog.getByLabel('What is happening?').fill('Refunds fail');
    await dialog.getByLabel('Service', { exact: true }).selectOption('Not in the catalog…');
    await dialog.getByLabel('Service that is not in the catalog').fill('Ledger');
    await dialog.getByRole('button', { name: 'Declare' }).click();
    const shortTitle = dialog.getByText('The workspace requires one');
    await shortTitle.waitFor();
    expect(await shortTitle.count()).toBe(1);
    await dialog.getByLabel('Short title (required)').fill('refunds');
    await shortTitle.waitFor({ state: 'detached' });
    // What the API says of a list of values stands at the field that a person sees.
    const reason = dialog.getByText('A value of the field region is required');
    await dialog.getByLabel('Orders').fill('1.5');
    await dialog.getByRole('button', { name: 'Declare' }).click();
    await dialog.getByText('Must be a whole number').waitFor();
    expect(await dialog.getByLabel('Orders').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Orders').fill('1');
    await dialog.getByRole('button', { name: 'Declare' }).click();
    await reason.waitFor();
    expect(await reason.count()).toBe(1);
    expect(await dialog.getByLabel('Region (required)').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Region (required)').selectOption('eu');
    await reason.waitFor({ state: 'detached' });
    await dialog.getByLabel('Orders').fill('');
    await dialog.getByLabel('Create a channel in the chat').check();
    await dialog.getByLabel('Lead').selectOption('Person 1');
    await dialog.getByRole('button', { name: 'Declare' }).click();
    await page.getByRole('heading', { name: 'Refunds fail' }).waitFor();
    const { user } = (await client().get('/api/v1/me')).body;
    expect(await latest()).toMatchObject({
      ...{ service: 'Ledger', incident_manager: String(user.id), custom_fields: { region: 'eu' } },
    });
    await eventually(async () => (await latest()).slack_channel_id !== '');
  });

  test('a channel is requested for an incident that was declared without one', async () => {
    const { fields } = (await client().get('/api/v1/custom-fields')).body;
    const { id: region } = fields.find(({ slug }: { slug: string }) => slug === 'region');
    const { id } = await declare('Receipts are late', {
      ...{ short_title: 'first', custom_field_values: [{ field_id: region, value: 'eu' }] },
    });
    const page = await open(`/incidents/${id}`, { viewport: NARROW });
    await page.getByRole('button', { name: 'Create a channel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create a channel' });
    await dialog.getByLabel('Short title (required)').fill('receipts');
    await expectSound(page, 'channel-narrow');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Succeeded').waitFor();
    expect((await client().get(`/api/v1/incidents/${id}`)).body.incident.slack_channel_id).not.toBe('');
  });

  test('what a field needs at the start is unticked together', async () => {
    const page = await open('/fields');
    await page.getByRole('row').filter({ hasText: 'Region' }).getByRole('button', { name: 'Edit' }).click();
    const required = page.getByLabel('An incident cannot be created without it');
    expect(await required.isChecked()).toBe(true);
    await page.getByLabel('Ask for it when an incident is created').uncheck();
    expect([await required.isChecked(), await required.isDisabled()]).toEqual([false, true]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row').filter({ hasText: 'Region' }).getByText('Later').waitFor();
    const { fields } = (await client().get('/api/v1/custom-fields')).body;
    expect(fields.find(({ slug }: { slug: string }) => slug === 'region')).toMatchObject({
      ...{ show_on_creation: false, required_on_creation: false },
    });
  });
}
