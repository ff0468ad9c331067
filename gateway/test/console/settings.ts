import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { at, type Console, expectSound, NARROW } from './harness.ts';

const KEYS = '/api/v1/settings/api-keys';
const DAY = 86_400_000;

export function testSettings({ open, client }: Console): void {
  test('who uses a key chooses its scopes, and it expires when it is told to', async () => {
    const page = await open('/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await dialog.getByLabel('What is it for?').fill('مراقبة الدفع 🚨');
    await dialog.getByLabel('Who uses it').selectOption('Reading only');
    expect(await dialog.getByLabel('incidents:write').isChecked()).toBe(false);
    await dialog.getByLabel('Who uses it').selectOption('A monitor');
    expect(await dialog.getByLabel('Send alerts').isChecked()).toBe(true);
    expect(await dialog.getByLabel('incidents:read').isChecked()).toBe(false);
    await dialog.getByLabel('It expires').selectOption('On a date');
    await expectSound(page, 'new-key');
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectSound(page, 'key-dark-narrow');
    const last = new Date(Date.now() + 20 * DAY).toISOString().slice(0, 10);
    await dialog.getByLabel('Last day').fill(last);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText(/^tcs_\w{49}$/).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row').filter({ hasText: 'مراقبة الدفع 🚨' });
    await row.getByText('Send alerts alerts:write').waitFor();
    await row.getByText(/^Expires on /).waitFor();
    await expectSound(page, 'keys');
    const { api_keys: keys } = (await client().get(KEYS)).body;
    expect(keys).toContainEqual(
      expect.objectContaining({ scopes: ['alerts:write'], expires_at: `${last}T23:59:59.000Z` }),
    );
  });

  test('a monitor gets its key on the page, and what was refused stands first', async () => {
    const alert = { id: 'disk', status: 'firing', title: 'The disk is full' };
    const group = {
      ...{
        version: '4',
        groupKey: '{}:{alertname="DiskFull", service="قاعدة \\"1\\""}',
        status: 'firing',
        receiver: 'tocsin',
      },
      ...{ groupLabels: {}, commonLabels: {}, commonAnnotations: {}, externalURL: '', truncatedAlerts: 0 },
      alerts: [{ status: 'firing', labels: { alertname: 'DiskFull' }, annotations: {}, fingerprint: 'a1' }],
    };
    expect((await client().post('/api/v1/alerts', { ...alert, status: 'burning' })).status).toBe(400);
    expect((await client().post('/api/v1/alerts/alertmanager', group)).status).toBe(202);
    const page = await open('/alerts');
    await page.getByText('DiskFull · service قاعدة "1"').waitFor();
    const rows = page.getByRole('region', { name: 'Notifications', exact: true }).locator('tbody tr');
    expect(await rows.first().textContent()).toContain('Refused');
    expect(await rows.filter({ hasText: 'Must be one of' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Make its key' }).click();
    expect(await page.getByLabel('What is it for?').inputValue()).toBe('Alertmanager');
    await page.keyboard.press('Control+Enter');
    const token = (await page.getByText(/^tcs_\w{49}$/).textContent()) ?? '';
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText(`credentials: ${token}`).waitFor();
    await expectSound(page, 'alerts-with-key');
    await page.reload();
    await page.getByText('credentials: tcs_…').waitFor();
    const { api_keys: keys } = (await client().get(`${KEYS}?limit=100`)).body;
    expect(keys).toContainEqual(expect.objectContaining({ name: 'Alertmanager', scopes: ['alerts:write'] }));
  });

  test('people are shown by their roles and seats, which say what they allow', async () => {
    const viewer = { name: 'عبد الرحمن 🚒', email: 'reader@acme.example', role: 'viewer', seat: 'none' };
    await client().post('/api/v1/settings/users', viewer);
    const page = await open('/users');
    await page.getByRole('cell', { name: 'Owner Manages everything, and deletes for good' }).first().waitFor();
    await page.getByLabel('Who is shown').selectOption('Viewers');
    await page.getByText('person-1@acme.example').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: viewer.name }).waitFor();
    await expectSound(page, 'people');
    await page.getByLabel('Who is shown').selectOption('Deactivated');
    await page.getByRole('heading', { name: 'Nobody matches' }).waitFor();
    await page.getByLabel('Who is shown').selectOption('Without a seat');
    await page.getByRole('cell', { name: viewer.name }).waitFor();
  });

  test('fields are put into their order by hand, and the form is shown before anybody needs it', async () => {
    const FIELDS = '/api/v1/custom-fields';
    for (const name of ['Order one', 'Order two']) {
      const { field } = (await client().post(FIELDS, { name, field_type: 'string', show_on_creation: true })).body;
      // Both have the same place, as those of other clients may.
      await client().patch(`${FIELDS}/${field.id}`, { sort_order: 1_000 }, at(field.revision));
    }
    const page = await open('/fields');
    const row = page.getByRole('row').filter({ hasText: 'Order two' });
    const up = row.getByRole('button', { name: 'Move up' });
    const names = async () =>
      (await client().get(`${FIELDS}?limit=100`)).body.fields
        .map(({ name }: { name: string }) => name)
        .filter((name: string) => name.startsWith('Order '));
    expect(await names()).toEqual(['Order one', 'Order two']);
    await up.focus();
    await page.keyboard.press('Enter');
    await eventually(async () => (await names())[0] === 'Order two');
    const focused = async () => page.evaluate<string>("document.activeElement.getAttribute('aria-label') ?? ''");
    await eventually(async () => (await focused()) === 'Move up');
    await expectSound(page, 'fields');
    await page.getByRole('button', { name: 'Preview' }).click();
    const dialog = page.getByRole('dialog', { name: 'What a new incident is asked' });
    const labels = (await dialog.locator('[aria-hidden]').allTextContents()).filter((text) => text.startsWith('Order'));
    expect(labels).toEqual(['Order two', 'Order one']);
    await expectSound(page, 'fields-preview');
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectSound(page, 'fields-preview-dark-narrow');
    await dialog.getByRole('button', { name: 'Done' }).click();
    const { fields } = (await client().get(`${FIELDS}?limit=100`)).body;
    for (const { id, name } of fields) if (String(name).startsWith('Order ')) await client().delete(`${FIELDS}/${id}`);
  });
}
