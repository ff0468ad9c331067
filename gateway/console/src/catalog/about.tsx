import type { Service, Team } from '@tocsin/sdk';
import type { ReactNode } from 'react';
import { refresh } from '../api/hooks.ts';
import { EditedResource, Nothing, Term } from '../incident/editable.tsx';
import { areaEditor, textEditor } from '../incident/editors.tsx';
import { resourceAt, useConflict } from '../resources/conflict.tsx';
import { Copy } from '../ui/dialogs.tsx';
import { Card } from '../ui/layout.tsx';
import ui from '../ui/ui.module.css';
import css from './catalog.module.css';

/** What the API takes for an empty text. */
const orNull = (text: string): string | null => (text === '' ? null : text);

/** What a service or team is; its properties become forms where they stand, and its slug is copied. */
export function About({
  path,
  row,
  canEdit,
  children,
}: {
  path: string;
  row: Service | Team;
  canEdit: boolean;
  /** The properties that others do not have. */
  children: ReactNode;
}) {
  const { save, conflict } = useConflict();
  const { name, slug, description = '', external_id: externalId = '', revision } = row;
  const edited = {
    id: path,
    revision,
    canEdit,
    save: async (edit: Parameters<typeof save>[0]) => {
      const isSettled = await save(edit, resourceAt(path));
      // A service shows the name of its team.
      await refresh('/services', '/teams');
      return isSettled;
    },
  };
  return (
    <Card title="About" padded>
      <EditedResource value={edited}>
        <dl className={css.about}>
          <Term name="name" term="Name" value={name} editor={textEditor({ max: 128 })}>
            <bdi>{name}</bdi>
          </Term>
          <div className={css.slug}>
            <dt>Slug</dt>
            <dd className={ui.row}>
              <code>{slug}</code> <Copy value={slug} />
            </dd>
          </div>
          <Term name="description" term="Description" value={description} editor={areaEditor} toApi={orNull}>
            {description === '' ? <Nothing /> : <span className={css.text}>{description}</span>}
          </Term>
          {children}
          <Term
            name="external_id"
            term="ID elsewhere"
            value={externalId}
            editor={textEditor({ max: 200 })}
            toApi={orNull}
          >
            {externalId || <Nothing />}
          </Term>
        </dl>
      </EditedResource>
      {conflict}
    </Card>
  );
}
