import type { TimelineEvent, TocsinError } from '@tocsin/sdk';
import { type ClipboardEvent, type DragEvent, useEffect, useRef, useState } from 'react';
import { write } from '../api/client.ts';
import { failureOf } from '../api/failures.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialogs.tsx';
import ui from '../ui/ui.module.css';
import css from './pictures.module.css';

/** A picture of an event, as drafts keep it. */
export interface EventPicture {
  id: number;
  filename: string;
  url: string;
  thumbnail_url: string;
}

export const picturesOf = ({ attachments }: Pick<TimelineEvent, 'attachments'>): EventPicture[] =>
  attachments.flatMap(({ id, filename, url, thumbnail_url: thumbnail }) =>
    thumbnail === null ? [] : [{ id, filename, url, thumbnail_url: thumbnail }],
  );

/** A picture that the server does not have yet. The key makes it one picture, however often it is sent. */
interface Upload {
  key: string;
  file: File;
  error?: TocsinError;
}

/** Uploads what is pasted, dropped or chosen while somebody writes an event. */
export function usePictures(options: {
  incidentId: number;
  pictures: readonly EventPicture[];
  onPictures: (pictures: readonly EventPicture[]) => void;
}) {
  const { incidentId } = options;
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  // An upload ends when others have ended, and more has been written.
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const set = (pictures: readonly EventPicture[]) => {
    latest.current = { ...latest.current, pictures };
    latest.current.onPictures(pictures);
  };
  const forget = (key: string) => setUploads((all) => all.filter((each) => each.key !== key));

  const send = async ({ key, file }: Upload) => {
    setUploads((all) => [...all.filter((each) => each.key !== key), { key, file }]);
    try {
      const path = `/incidents/${incidentId}/pictures?filename=${encodeURIComponent(file.name.slice(-255))}`;
      const { picture } = await write<{ picture: EventPicture }>({ path, key, body: file });
      const { id, filename, url, thumbnail_url } = picture;
      set([...latest.current.pictures, { id, filename, url, thumbnail_url }]);
      forget(key);
    } catch (error) {
      setUploads((all) => all.map((each) => (each.key === key ? { ...each, error: failureOf(error) } : each)));
    }
  };
  const add = (files: FileList | null) => {
    for (const file of files ?? []) void send({ key: crypto.randomUUID(), file });
  };

  return {
    uploads,
    isUploading: uploads.some(({ error }) => error === undefined),
    add,
    send,
    forget,
    remove: (id: number) => set(latest.current.pictures.filter((each) => each.id !== id)),
    /** Of the form. */
    events: {
      onPaste: (event: ClipboardEvent) => {
        const { files, types } = event.clipboardData;
        // Programs copy a picture of a text besides the text.
        if (files.length === 0 || types.includes('text/plain')) return;
        event.preventDefault();
        add(files);
      },
      onDragOver: (event: DragEvent) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault();
      },
      onDrop: (event: DragEvent) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        add(event.dataTransfer.files);
      },
    },
  };
}

type Pictures = ReturnType<typeof usePictures>;

const KINDS = 'image/png,image/jpeg,image/webp,image/gif';

/** Chooses files. */
export function AttachButton({ add }: Pick<Pictures, 'add'>) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={KINDS}
        onChange={({ target }) => {
          add(target.files);
          // The same file may be chosen again.
          target.value = '';
        }}
      />
      <Button kind="quiet" small icon="clip" data-attach onClick={() => input.current?.click()}>
        Attach a picture
      </Button>
    </>
  );
}

/** What an event will have, and what is on its way. */
export function PictureDrafts({
  pictures,
  uploads,
  send,
  forget,
  remove,
}: Pick<Pictures, 'uploads' | 'send' | 'forget' | 'remove'> & { pictures: readonly EventPicture[] }) {
  const list = useRef<HTMLUListElement>(null);
  if (pictures.length + uploads.length === 0) return null;
  // The button that takes a picture away goes with it.
  const away = (act: () => void) => {
    list.current?.closest('form')?.querySelector<HTMLElement>('[data-attach]')?.focus();
    act();
  };
  return (
    <ul ref={list} className={css.pictures} aria-label="Pictures of the text">
      {pictures.map(({ id, filename, thumbnail_url: thumbnail }) => (
        <li key={id} className={css.draft}>
          <img className={css.thumbnail} src={thumbnail} alt={filename} title={filename} />
          <Button
            kind="quiet"
            small
            icon="close"
            aria-label={`Take ${filename} away`}
            onClick={() => away(() => remove(id))}
          />
        </li>
      ))}
      {uploads.map(({ key, file, error }) => (
        <li key={key} className={css.upload}>
          <span role={error ? 'alert' : 'status'} className={error ? css.failure : ui.muted}>
            {error ? `${file.name}: ${error.message}` : `Uploading ${file.name}…`}
          </span>
          {error && (
            <span className={ui.row}>
              <Button small onClick={() => away(() => void send({ key, file }))}>
                Upload again
              </Button>
              <Button
                kind="quiet"
                small
                icon="close"
                aria-label={`Forget ${file.name}`}
                onClick={() => away(() => forget(key))}
              />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The pictures of an event. A press on one shows the whole of it. */
export function EventPictures({ event }: { event: TimelineEvent }) {
  const [open, setOpen] = useState<EventPicture>();
  const pictures = picturesOf(event);
  if (pictures.length === 0) return null;
  return (
    <>
      <ul className={css.pictures} aria-label="Pictures">
        {pictures.map((picture) => (
          <li key={picture.id}>
            <button type="button" className={css.open} title={picture.filename} onClick={() => setOpen(picture)}>
              <img className={css.thumbnail} src={picture.thumbnail_url} alt={picture.filename} loading="lazy" />
            </button>
          </li>
        ))}
      </ul>
      {open && (
        <Dialog title={open.filename} onClose={() => setOpen(undefined)}>
          <img className={css.full} src={open.url} alt={open.filename} />
        </Dialog>
      )}
    </>
  );
}
