import { BUILT_IN_TEMPLATE, sectionsOf, type TemplateSection } from '@tocsin/schemas/postmortem-template';
import { useState } from 'react';
import { SectionFields } from '../incident/postmortem-section.tsx';
import { SectionText, titleText } from '../incident/postmortem-text.tsx';
import { Button, classes } from '../ui/button.tsx';
import { Card } from '../ui/layout.tsx';
import { moved, MoveTools } from '../ui/move-tools.tsx';
import ui from '../ui/ui.module.css';
import css from './configuration.module.css';

/** The template that the API has. */
export const templateOf = (sections: readonly TemplateSection[]): string =>
  sections.map(({ title, body }) => `${title === '' ? body : `## ${title}\n\n${body}`}\n`).join('\n');

/** What post-mortems begin as, section by section. Without sections, the built-in template is used. */
export function PostmortemTemplate({
  sections,
  canEdit,
  onChange,
}: {
  sections: readonly TemplateSection[];
  canEdit: boolean;
  onChange: (sections: readonly TemplateSection[]) => void;
}) {
  const [open, setOpen] = useState<string>();
  const isBuiltIn = sections.length === 0;
  const shown = isBuiltIn ? sectionsOf(BUILT_IN_TEMPLATE) : sections;
  const add = () => {
    const key = crypto.randomUUID();
    onChange([...shown, { key, title: '', body: '' }]);
    setOpen(key);
  };
  return (
    <Card id="template" title="Template of post-mortems">
      <div className={css.list}>
        <p className={ui.muted}>
          What a post-mortem begins as. Live parts are filled in whenever somebody reads it.{' '}
          {isBuiltIn && 'It is the built-in one until you change it.'}
        </p>
        <ol className={css.rows}>
          {shown.map((section, index) => (
            <li key={section.key} className={css.part}>
              <div className={css.line}>
                <h3>{titleText(section.title) || 'Without a heading'}</h3>
                {canEdit && (
                  <>
                    <Button
                      kind="quiet"
                      small
                      aria-expanded={open === section.key}
                      onClick={() => setOpen(open === section.key ? undefined : section.key)}
                    >
                      Change<span className={ui.hidden}> section {section.title || index + 1}</span>
                    </Button>
                    <MoveTools
                      label={`section ${section.title || index + 1}`}
                      isFirst={index === 0}
                      isLast={index === shown.length - 1}
                      onMove={(by) => onChange(moved(shown, index, by))}
                      onRemove={() => onChange(shown.toSpliced(index, 1))}
                    />
                  </>
                )}
              </div>
              {open === section.key ? (
                <SectionFields
                  value={section}
                  onValue={(texts) => onChange(shown.with(index, { ...section, ...texts }))}
                />
              ) : (
                <div className={classes(css.text, ui.muted)}>
                  <SectionText body={section.body} />
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
