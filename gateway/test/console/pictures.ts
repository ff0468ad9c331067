import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { Locator, Page } from 'playwright-core';
import { type Console, expectSound } from './harness.ts';

/** A picture that a browser has drawn. */
const drawn = async (page: Page): Promise<Buffer> =>
  Buffer.from(
    await page.evaluate<string>(`(() => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 900, height: 600 });
      const context = canvas.getContext('2d');
      context.fillStyle = 'rebeccapurple';
      context.fillRect(0, 0, 450, 600);
      return canvas.toDataURL('image/png').split(',')[1];
    })()`),
    'base64',
  );

/** Pastes or drops a file onto what has the focus, as a person would. */
const give = async (page: Page, kind: 'paste' | 'drop', { name, bytes }: { name: string; bytes: Buffer }) =>
  page.evaluate(`(() => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (each) => each.charCodeAt(0));
    transfer.items.add(new File([bytes], ${JSON.stringify(name)}, { type: 'image/png' }));
    const options = { bubbles: true, cancelable: true };
    document.activeElement.dispatchEvent(
      '${kind}' === 'paste'
        ? new ClipboardEvent('paste', { ...options, clipboardData: transfer })
        : new DragEvent('drop', { ...options, dataTransfer: transfer }),
    );
  })()`);

interface Image {
  complete: boolean;
  naturalWidth: number;
}

/** Pixels; 0 until it is loaded. */
const widthOf = async (image: Locator): Promise<number> =>
  image.evaluate((element) => {
    const { complete, naturalWidth } = element as unknown as Image;
    return complete ? naturalWidth : 0;
  });

const isLoaded = async (image: Locator) => eventually(async () => (await widthOf(image)) > 0, { what: 'a picture' });

export function testPictures(console: Console): void {
  const { open, client, declare, problems } = console;
  const written = (page: Page) => page.getByRole('list', { name: 'Pictures of the text' });
  const shown = (page: Page) => page.getByRole('article').getByRole('list', { name: 'Pictures', exact: true });
  const focused = async (page: Page) => page.evaluate<string>('document.activeElement.textContent');

  test('are pasted, dropped and chosen, kept in the draft, and shown in whole', async () => {
    const { id } = await declare('With a graph');
    const page = await open(`/incidents/${id}`);
    const bytes = await drawn(page);
    await page.getByLabel('Write to the timeline').fill('Latency rises');
    await give(page, 'paste', { name: 'pasted.png', bytes });
    await isLoaded(written(page).getByRole('img', { name: 'pasted.png' }));
    await give(page, 'drop', { name: 'لوحة 🔥 a-very-long-name-of-a-screenshot-without-any-space.png', bytes });
    await isLoaded(written(page).getByRole('img', { name: 'لوحة' }));
    await page.locator('input[type=file]').setInputFiles({ name: 'chosen.png', mimeType: 'image/png', buffer: bytes });
    await isLoaded(written(page).getByRole('img', { name: 'chosen.png' }));
    await page.reload();
    await written(page).getByRole('img', { name: 'chosen.png' }).waitFor();
    await page.getByRole('button', { name: 'Take chosen.png away' }).click();
    expect(await focused(page)).toBe('Attach a picture');
    expect(await written(page).getByRole('img').count()).toBe(2);
    await expectSound(page, 'pictures-written');

    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const thumbnail = shown(page).getByRole('button', { name: 'pasted.png' });
    await isLoaded(thumbnail.getByRole('img'));
    expect(await written(page).count()).toBe(0);
    await thumbnail.click();
    const whole = page.getByRole('dialog', { name: 'pasted.png' });
    await isLoaded(whole.getByRole('img', { name: 'pasted.png' }));
    expect(await widthOf(whole.getByRole('img'))).toBe(900);
    await page.keyboard.press('Escape');
    await whole.waitFor({ state: 'hidden' });
    expect(await page.evaluate<string>('document.activeElement.title')).toBe('pasted.png');
    await expectSound(page, 'pictures-shown');
    expect(problems()).toEqual([]);
  });

  test('are taken from an event, and given to it, when it is edited', async () => {
    const { id } = await declare('Edited with a graph');
    const page = await open(`/incidents/${id}`, {
      profile: { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
    });
    const bytes = await drawn(page);
    const { body } = await client().post(`/api/v1/incidents/${id}/pictures?filename=old.png`, bytes, {
      'Content-Type': 'image/png',
    });
    await client().post(`/api/v1/incidents/${id}/timeline`, { body: 'Graph', attachments: [body.picture.id] });
    await isLoaded(shown(page).getByRole('img', { name: 'old.png' }));
    await expectSound(page, 'pictures-phone');
    await page.getByRole('article').getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('article').getByRole('button', { name: 'Take old.png away' }).click();
    await page.getByLabel('Text of the event').focus();
    await give(page, 'paste', { name: 'new.png', bytes });
    await page.getByRole('article').getByRole('img', { name: 'new.png' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await isLoaded(shown(page).getByRole('img', { name: 'new.png' }));
    expect(await shown(page).getByRole('img').count()).toBe(1);
  });

  test('that cannot be read are refused where they are, and do not keep the text back', async () => {
    const { id } = await declare('Without a graph');
    const page = await open(`/incidents/${id}`);
    await page.getByLabel('Write to the timeline').fill('No graph');
    await give(page, 'paste', { name: 'script.png', bytes: Buffer.from('GIF89a=1;alert(1)') });
    const alert = written(page).getByRole('alert');
    await alert.getByText('script.png: Is damaged, or not a picture of its format').waitFor();
    await page.getByRole('button', { name: 'Upload again' }).click();
    await alert.waitFor();
    await expectSound(page, 'pictures-refused');
    await page.getByRole('button', { name: 'Forget script.png' }).click();
    expect(await focused(page)).toBe('Attach a picture');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('article').getByText('No graph').waitFor();
  });
}
