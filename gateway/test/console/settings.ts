import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { at, type Console, expectSound, NARROW } from './harness.ts';

const KEYS = '/api/v1/settings/api-keys';
const DAY = 86_400_000;

export function testSettings({ open, client, declare }: Console): void {
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

  test('fields say where they are used, and lead there', async () => {
    const FIELDS = '/api/v1/custom-fields';
    const { field } = (await client().post(FIELDS, { name: 'Cause of it', field_type: 'string' })).body;
    const { field: unused } = (
      await client().post(FIELDS, { name: 'Never set', field_type: 'multi_select', config: { options: ['a'] } })
    ).body;
    await declare('With a cause', { custom_field_values: [{ field_id: field.id, value: 'A full disk' }] });
    const { revision } = (await client().get('/api/v1/users/me/views')).body.saved_views;
    const search = JSON.stringify({ fields: [{ slug: field.slug, operator: 'contains', value: 'disk' }] });
    await client().put('/api/v1/users/me/views', { views: [{ name: 'Full disks', search }] }, at(revision));
    const page = await open('/fields');
    const used = page.getByRole('row').filter({ hasText: 'Cause of it' });
    await used.getByRole('link', { name: 'Your view “Full disks”' }).waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: 'Never set' })
      .getByText(/^No(?:ne of the latest 100)? incidents?$/)
      .waitFor();
    await expectSound(page, 'fields-used');
    await used.getByRole('link', { name: /^1 (?:incident|of the latest 100 incidents)$/ }).click();
    await page.getByRole('link', { name: 'With a cause' }).waitFor();
    await page.getByText('1 incident', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: `Remove the filter by ${field.slug}` }).waitFor();
    for (const { id } of [field, unused]) await client().delete(`${FIELDS}/${id}`);
    await client().put('/api/v1/users/me/views', { views: [] }, at(revision + 1));
  });
}
