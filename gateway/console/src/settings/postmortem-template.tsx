import { BUILT_IN_TEMPLATE, sectionsOf, type TemplateSection } from '@tocsin/schemas/postmortem-template';
import { useState } from 'react';
import { SectionFields } from '../incident/postmortem-section.tsx';
import { SectionText } from '../incident/postmortem-text.tsx';
import { Button, classes } from '../ui/button.tsx';
import { Card } from '../ui/layout.tsx';
import { moved, MoveTools } from '../ui/move-tools.tsx';
import ui from '../ui/ui.module.css';
import css from './configuration.module.css';

/** A section as the page has it: known while its texts change. */
export type TemplateRow = TemplateSection & { row: string };

export const templateRows = (template: string): TemplateRow[] =>
  sectionsOf(template).map((section, index) => ({ ...section, row: String(index) }));

/** The template that the API has. */
export const templateOf = (rows: readonly TemplateRow[]): string =>
  rows.map(({ title, body }) => `${title === '' ? body : `## ${title}\n\n${body}`}\n`).join('\n');

/** What post-mortems begin as, section by section. Without rows, the built-in template is used. */
export function PostmortemTemplate({
  rows,
  canEdit,
  onChange,
}: {
  rows: readonly TemplateRow[];
  canEdit: boolean;
  onChange: (rows: readonly TemplateRow[]) => void;
}) {
  const [open, setOpen] = useState<string>();
  const isBuiltIn = rows.length === 0;
  const shown = isBuiltIn ? templateRows(BUILT_IN_TEMPLATE) : rows;
  const add = () => {
    const row = crypto.randomUUID();
    onChange([...shown, { row, title: '', body: '' }]);
    setOpen(row);
  };
  return (
    <Card title="Template of post-mortems">
      <div className={css.list}>
        <p className={ui.muted}>
          What a post-mortem begins as. Live parts are filled in whenever somebody reads it.{' '}
          {isBuiltIn && 'It is the built-in one until you change it.'}
        </p>
        <ol className={css.rows}>
          {shown.map((row, index) => (
            <li key={row.row} className={css.part}>
              <div className={css.line}>
                <h3>{row.title || 'Without a heading'}</h3>
                {canEdit && (
                  <>
                    <Button
                      kind="quiet"
                      small
                      aria-expanded={open === row.row}
                      onClick={() => setOpen(open === row.row ? undefined : row.row)}
                    >
                      Change<span className={ui.hidden}> section {row.title || index + 1}</span>
                    </Button>
                    <MoveTools
                      label={`section ${row.title || index + 1}`}
                      isFirst={index === 0}
                      isLast={index === shown.length - 1}
                      onMove={(by) => onChange(moved(shown, index, by))}
                      onRemove={() => onChange(shown.toSpliced(index, 1))}
                    />
                  </>
                )}
              </div>
              {open === row.row ? (
                <SectionFields value={row} onValue={(texts) => onChange(shown.with(index, { ...row, ...texts }))} />
              ) : (
                <div className={classes(css.text, ui.muted)}>
                  <SectionText body={row.body} />
                </div>
              )}
            </li>
          ))}
        </ol>
        {canEdit && (
          <div className={ui.row}>
            <Button small icon="plus" onClick={add}>
              Add a section
            </Button>
            {!isBuiltIn && (
              <Button kind="quiet" small onClick={() => onChange([])}>
                Use the built-in template
              </Button>
            )}
          </div>
        )}
      </div>
    </Card>
  );
}
