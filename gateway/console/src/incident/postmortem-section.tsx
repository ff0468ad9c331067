import { type Postmortem, type PostmortemSection, TocsinError } from '@tocsin/sdk';
import { PLACEHOLDERS, type Placeholder, standsInLine } from '@tocsin/schemas/postmortem-template';
import { type ReactNode, type SubmitEvent, useDeferredValue, useEffect, useEffectEvent, useRef, useState } from 'react';
import { failureAt, failureOf, sayError } from '../api/failures.ts';
import { type Edit, equal } from '../resources/conflict.tsx';
import { Button } from '../ui/button.tsx';
import { useDraft } from '../ui/drafts.ts';
import { Input, Refusable, Select, TextArea } from '../ui/fields.tsx';
import { MoveTools } from '../ui/move-tools.tsx';
import ui from '../ui/ui.module.css';
import { onFormKey, SaveOrCancel, useTakenFocus } from './editable.tsx';
import css from './postmortem.module.css';
import { PLACEHOLDER_NAMES, SectionText, titleText } from './postmortem-text.tsx';
import { moveName, sectionName, type SectionTexts, textsOf } from './save-postmortem.tsx';

/** What somebody writes in a section, on what they were shown when they began. */
interface Draft {
  value: SectionTexts;
  base: SectionTexts | null;
  revision: number;
}

const EMPTY: SectionTexts = { title: '', body: '' };

const TO_INSERT = PLACEHOLDERS.map((name) => [name, PLACEHOLDER_NAMES[name]] as const);

/** A text with a placeholder at the place of the cursor; those of blocks stand alone between empty lines. */
function withPlaceholder(text: string, at: number, name: Placeholder): string {
  const placeholder = `{{${name}}}`;
  const [before, after] = [text.slice(0, at), text.slice(at)];
  if (standsInLine(name)) return before + placeholder + after;
  return [before.trimEnd(), placeholder, after.trimStart()].filter((each) => each !== '').join('\n\n');
}

/** The heading and the text of a section, with the live parts that can be inserted, and how it will look. */
export function SectionFields({
  value,
  onValue,
  postmortem,
}: {
  value: SectionTexts;
  onValue: (value: SectionTexts) => void;
  postmortem?: Postmortem | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  const preview = useDeferredValue(value.body);
  const [part, setPart] = useState<Placeholder>('activity');
  const insert = () => {
    const area = box.current?.querySelector('textarea');
    if (!area) return;
    onValue({ ...value, body: withPlaceholder(value.body, area.selectionEnd, part) });
    area.focus();
  };
  return (
    <div ref={box} className={css.fields}>
      <Input
        label="Heading"
        name="title"
        maxLength={255}
        value={value.title}
        onValue={(title) => onValue({ ...value, title })}
      />
      <TextArea
        label="Text of the section"
        name="body"
        rows={Math.min(20, Math.max(5, value.body.split('\n').length + 1))}
        hint="Markdown. A live part shows what the incident has whenever somebody reads this."
        value={value.body}
        onValue={(body) => onValue({ ...value, body })}
      />
      <div
        className={ui.row}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.target instanceof HTMLSelectElement)) return;
          // The form is not sent.
          event.preventDefault();
          event.stopPropagation();
          insert();
        }}
      >
        <Select bare label="Live part" options={TO_INSERT} value={part} onValue={setPart} />
        <Button small onClick={insert}>
          Insert
        </Button>
      </div>
      {preview.trim() !== '' && (
        <div role="group" aria-label="Preview" className={css.preview}>
          <SectionText body={preview} postmortem={postmortem} />
        </div>
      )}
    </div>
  );
}

interface SectionProps {
  incidentId: number;
  section: PostmortemSection;
  /** Of the document; undefined for a section that is not in it. */
  place: { index: number; last: number } | undefined;
  revision: number;
  postmortem: Postmortem;
  canEdit: boolean;
  save: (edit: Edit) => Promise<boolean>;
  /** Says that somebody edits the section, or no longer does. */
  onEditing: (section: PostmortemSection, isEditing: boolean) => void;
  onRemove: () => void;
}

/** A section of the document, which becomes a form where it stands. */
export function Section({ section, place, revision, postmortem, canEdit, save, ...props }: SectionProps) {
  const { key, title, body } = section;
  const { incidentId, onEditing, onRemove } = props;
  const [draft, setDraft] = useDraft<Draft>(`${incidentId} postmortem ${key}`);
  const { focus, takeFocus } = useTakenFocus();
  const isEditing = canEdit && draft !== undefined;
  const name = title || 'Beginning';
  const report = useEffectEvent((isWritten: boolean) => onEditing(section, isWritten));
  useEffect(() => {
    if (!isEditing) return undefined;
    report(true);
    return () => report(false);
  }, [isEditing]);
  const close = () => {
    takeFocus();
    setDraft(undefined);
  };
  const move = (by: number) => void save({ changes: { [moveName(key)]: by }, base: {}, revision }).catch(sayError);
  if (isEditing) {
    return (
      <section className={css.section} aria-label={name}>
        <SectionForm draft={draft} setDraft={setDraft} {...{ name: sectionName(key), save, postmortem, close, focus }}>
          {place === undefined ? (
            <p className={ui.hint}>Somebody removed this section while you write.</p>
          ) : (
            !equal(textsOf(section), draft.base) && <p className={ui.hint}>Somebody changed it while you write.</p>
          )}
        </SectionForm>
      </section>
    );
  }
  return (
    <section className={css.section} aria-label={name}>
      {(title !== '' || canEdit) && (
        <div className={css.sectionHead}>
          {title !== '' && <h2>{titleText(title, postmortem)}</h2>}
          {canEdit && place !== undefined && (
            <span className={css.sectionTools}>
              <Button
                ref={focus}
                data-edit-section
                kind="quiet"
                small
                onClick={() => {
                  takeFocus();
                  setDraft({ value: textsOf(section), base: textsOf(section), revision });
                }}
              >
                Edit<span className={ui.hidden}> {name}</span>
              </Button>
              <MoveTools
                label={name}
                isFirst={place.index === 0}
                isLast={place.index === place.last}
                onMove={move}
                onRemove={onRemove}
              />
            </span>
          )}
        </div>
      )}
      <SectionText body={body} postmortem={postmortem} />
    </section>
  );
}

/** Edits a draft of a section until it is saved or given up. */
function SectionForm({
  name,
  draft,
  setDraft,
  postmortem,
  save,
  close,
  focus,
  children,
}: {
  /** Of the section in edits. */
  name: string;
  draft: Draft;
  setDraft: (draft: Draft) => void;
  postmortem: Postmortem;
  save: (edit: Edit) => Promise<boolean>;
  close: () => void;
  focus: (node: HTMLElement | null) => void;
  children?: ReactNode;
}) {
  const [state, setState] = useState<'rest' | 'saving' | TocsinError>('rest');
  const { value, base, revision } = draft;
  const isChanged = !equal(value, base ?? EMPTY);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (state === 'saving') return;
    if (!isChanged) {
      close();
      return;
    }
    setState('saving');
    try {
      if (await save({ changes: { [name]: value }, base: { [name]: base }, revision })) close();
      else setState('rest');
    } catch (error) {
      const failure = failureOf(error);
      // The API names the section by its place.
      setState(failureAt(failure.field?.replace(/^sections\.\d+\./, '') ?? '', failure));
    }
  };
  return (
    <form
      className={css.form}
      noValidate
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => onFormKey(event, { isChanged, close })}
    >
      <Refusable error={state instanceof TocsinError ? state : null}>
        <div ref={(node) => focus(node?.querySelector('textarea') ?? null)}>
          <SectionFields
            value={value}
            onValue={(next) => setDraft({ ...draft, value: next })}
            postmortem={postmortem}
          />
        </div>
      </Refusable>
      {children}
      <SaveOrCancel isSaving={state === 'saving'} onCancel={close} />
    </form>
  );
}

/** Adds a section at the end, once it is saved. */
export function NewSection({
  incidentId,
  revision,
  postmortem,
  save,
}: Pick<SectionProps, 'incidentId' | 'revision' | 'postmortem' | 'save'>) {
  const [draft, setDraft] = useDraft<Draft & { key: string }>(`${incidentId} postmortem-new`);
  const { focus, takeFocus } = useTakenFocus();
  const close = () => {
    takeFocus();
    setDraft(undefined);
  };
  if (draft === undefined) {
    return (
      <div className={css.add}>
        <Button
          ref={focus}
          data-add-section
          icon="plus"
          onClick={() => {
            takeFocus();
            setDraft({ key: crypto.randomUUID(), value: EMPTY, base: null, revision });
          }}
        >
          Add a section
        </Button>
      </div>
    );
  }
  return (
    <section className={css.section} aria-label="New section">
      <SectionForm
        name={sectionName(draft.key)}
        draft={draft}
        setDraft={(next) => setDraft({ ...draft, ...next })}
        {...{ postmortem, save, close, focus }}
      />
    </section>
  );
}
