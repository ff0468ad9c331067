import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { Page } from 'playwright-core';
import { at, type Console } from './harness.ts';

export function testLive({ open, client, system, declare, note }: Console): void {
  /** Collects the reads of a page from now on. */
  const readsOf = (page: Page): string[] => {
    const paths: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/api/v1/') && pathname !== '/api/v1/events')
        paths.push(pathname.slice('/api/v1'.length));
    });
    return paths;
  };
  const live = async (page: Page) => page.getByText('Live', { exact: true }).waitFor();

  test('an event refreshes the page that it touches, once, and no other one', async () => {
    // IDs of which one begins as another one does.
    const incidents = [];
    for (let index = 0; index < 10; index += 1) incidents.push(await declare(`Number ${index}`));
    const [touched, last] = [incidents[0], incidents[9]];
    expect([touched.id, last.id]).toEqual([1, 10]);
    const [list, shown, other] = [
      await open(),
      await open(`/incidents/${touched.human_id}`),
      await open(`/incidents/${last.human_id}`),
    ];
    for (const page of [list, shown, other]) {
      await page.getByText('Number').first().waitFor();
      await live(page);
    }
    await list.getByText('Number 0').waitFor();
    const reads = [list, shown, other].map(readsOf);
    for (const title of ['First', 'Second', 'Third']) {
      const { revision } = (await client().get('/api/v1/incidents/1')).body.incident;
      await client().patch('/api/v1/incidents/1', { title }, at(revision));
      await shown.getByRole('heading', { name: title }).waitFor();
    }
    await client().post('/api/v1/incidents/1/timeline', { body: 'The very last event' });
    await shown.getByText('The very last event').first().waitFor();
    await list.getByText('Third').waitFor();
    const [ofList, ofShown = [], ofOther] = reads;
    expect({ ofList, ofOther }).toEqual({ ofList: [], ofOther: [] });
    const count = (path: string) => ofShown.filter((each) => each === path).length;
    expect(count('/incidents/1')).toBeLessThanOrEqual(4);
    expect(count('/incidents/1/timeline')).toBeLessThanOrEqual(4);
    expect(new Set(ofShown.map((path) => path.split('/').slice(0, 3).join('/')))).toEqual(new Set(['/incidents/1']));
  });

  test('an event of a timeline that somebody edits is read with its timeline and changelog, and nothing else', async () => {
    const { id, human_id: reference } = await declare('Edited by others');
    const event = await note(id, { body: 'As it was' });
    const page = await open(`/incidents/${reference}`);
    await page.getByText('As it was').waitFor();
    await live(page);
    const reads = readsOf(page);
    await client().patch(`/api/v1/timeline/${event.id}`, { body: 'As it is' }, at(event.revision));
    await page.getByText('As it is').waitFor();
    // The revision of the incident has come with the event: nobody is asked about a conflict, and nothing is read for it.
    await page.getByRole('button', { name: /^Edit Title/ }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Edited by both');
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
    expect(new Set(reads)).toEqual(new Set([`/incidents/${id}/changelog`, `/incidents/${id}/timeline`]));
    await page.keyboard.press('Enter');
    expect((await saved).status()).toBe(200);
  });

  test('imported incidents are news as declared ones are, and "Live" is not green offline', async () => {
    const page = await open();
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await live(page);
    const item = {
      external: { source: 'dispatch', id: '7' },
      title: 'From elsewhere',
      status: 'open',
      severity: 'sev3',
    };
    const incidents = [{ ...item, created_at: new Date().toISOString(), author: { name: 'Eve' } }];
    await client().post('/api/v1/imports/incidents', { incidents });
    await page.getByText('1 incident was declared since').waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('link', { name: 'From elsewhere' }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('Offline', { exact: true }).waitFor();
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
    await page.context().setOffline(false);
    await eventually(async () => (await page.getByText('Offline', { exact: true }).count()) === 0);
  });

  test('people without a seat are not offered as lead', async () => {
    await system().as({ role: 'viewer', seat: 'none' });
    const page = await open('/incidents/INC-2');
    await page
      .getByRole('button', { name: /^Edit Lead/ })
      .first()
      .click();
    const options = page.getByRole('combobox', { name: 'Lead' }).locator('option');
    await eventually(async () => (await options.count()) === 2);
    expect(await options.allTextContents()).toEqual(['None', 'Person 1']);
  });
}
