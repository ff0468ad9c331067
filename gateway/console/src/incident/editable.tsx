import { TocsinError } from '@tocsin/sdk';
import {
  createContext,
  type KeyboardEvent,
  type SubmitEvent,
  type ReactNode,
  useContext,
  useId,
  useRef,
  useState,
} from 'react';
import { failureAt, failureOf } from '../api/failures.ts';
import { type Edit, equal } from '../resources/conflict.tsx';
import { useDraft } from '../ui/drafts.ts';
import { Button } from '../ui/button.tsx';
import { Refusable } from '../ui/fields.tsx';
import { Icon } from '../ui/icon.tsx';
import ui from '../ui/ui.module.css';
import { isComposing, isSending } from '../ui/use-keys.ts';
import css from './editable.module.css';
import type { Editor } from './editors.tsx';

/** The resource that a page shows, and how edits of its properties are saved. */
export interface Edited {
  /** Names its drafts. */
  id: number | string;
  revision: number;
  canEdit: boolean;
  /** Properties that are not known of the revision that is shown. */
  notRecorded?: readonly string[];
  save: (edit: Edit) => Promise<boolean>;
}

export const EditedResource = createContext<Edited | undefined>(undefined);

function useEdited(): Edited {
  const edited = useContext(EditedResource);
  if (edited === undefined) throw new Error('there is nothing to edit');
  return edited;
}

interface EditableProps<Value> {
  /** As the API names it; a custom field as `custom_fields.` and its slug. */
  name: string;
  label: string;
  value: Value;
  editor: Editor<Value>;
  /** What the API takes, if it is not the value. */
  toApi?: (value: Value) => unknown;
  /** Whether the children have links, which cannot be in a button. */
  hasLinks?: boolean;
  children: ReactNode;
}

/** What somebody writes, on what they were shown when they began. */
interface Draft<Value> {
  value: Value;
  base: Value;
  revision: number;
}

/** Whether an element is a field of the page. A dialogue that still has the focus is about to close. */
const isOnPage = (element: Element | null): boolean =>
  element !== null && element.matches('input, textarea, select') && element.closest('dialog') === null;

/** Gives the focus to what is shown next, once it is asked for: whoever uses the keyboard goes on where they were. */
export function useTakenFocus() {
  const isAwaited = useRef(false);
  const focus = (node: HTMLElement | null) => {
    if (node === null || !isAwaited.current) return;
    isAwaited.current = false;
    // Whoever has gone on to another field meanwhile stays there.
    if (!isOnPage(document.activeElement)) node.focus();
  };
  return { focus, takeFocus: () => void (isAwaited.current = true) };
}

/** The buttons of a form that stands where a text stood. */
export const SaveOrCancel = ({ isSaving, onCancel }: { isSaving: boolean; onCancel: () => void }) => (
  <div className={ui.row}>
    <Button type="submit" kind="primary" small busy={isSaving}>
      Save
    </Button>
    <Button kind="quiet" small onClick={onCancel}>
      Cancel
    </Button>
  </div>
);

/** Sends the form by its keys, or leaves it. */
export function onFormKey(
  event: KeyboardEvent<HTMLFormElement>,
  { isChanged, close }: { isChanged: boolean; close: () => void },
) {
  const { key, target, currentTarget } = event;
  if (isComposing(event.nativeEvent)) return;
  if (isSending(event)) currentTarget.requestSubmit();
  else if (key === 'Enter' && target instanceof HTMLSelectElement) {
    // Browsers send a form by Enter from every field but this one. The next keys are those of the page.
    event.preventDefault();
    target.blur();
    currentTarget.requestSubmit();
  }
  if (key !== 'Escape') return;
  // A long text is only left: it takes more than one key to throw it away.
  if (target instanceof HTMLTextAreaElement && isChanged) target.blur();
  else close();
}

/** A property that the reader cannot change. */
function FixedValue({ name, children }: { name: string; children: ReactNode }) {
  const isUnknown = useEdited().notRecorded?.includes(name) === true;
  return <div className={css.value}>{isUnknown ? <span className={ui.muted}>Not recorded</span> : children}</div>;
}

/** A property of the resource that becomes a form where it stands. Escape leaves it as it was. */
export function Editable<Value>({
  name,
  label,
  value,
  editor,
  toApi = (same) => same,
  hasLinks = false,
  children,
}: EditableProps<Value>) {
  const { id: resource, revision, canEdit, save } = useEdited();
  const [draft, setDraft] = useDraft<Draft<Value>>(`${resource} ${name}`);
  const [state, setState] = useState<'rest' | 'saving' | TocsinError>('rest');
  const { focus, takeFocus } = useTakenFocus();
  const close = () => {
    takeFocus();
    setDraft(undefined);
    setState('rest');
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (draft === undefined || state === 'saving') return;
    const { value: mine, base } = draft;
    if (equal(mine, base) || equal(mine, value)) {
      close();
      return;
    }
    setState('saving');
    try {
      const changes = { [name]: toApi(mine) };
      const isSettled = await save({ changes, base: { [name]: toApi(base) }, revision: draft.revision });
      if (isSettled) close();
      else setState('rest');
    } catch (error) {
      setState(failureAt(name, failureOf(error)));
    }
  };
  if (draft !== undefined && canEdit) {
    const change = (next: Value) => setDraft({ ...draft, value: next });
    return (
      <form
        className={css.form}
        onSubmit={(event) => void submit(event)}
        onKeyDown={(event) => onFormKey(event, { isChanged: !equal(draft.value, draft.base), close })}
      >
        <Refusable error={state instanceof TocsinError ? state : null}>
          <div ref={(node) => focus(node?.querySelector('input, select, textarea') ?? null)}>
            {editor(draft.value, change, { name, label, stored: value })}
          </div>
        </Refusable>
        {!equal(value, draft.base) && <p className={ui.hint}>Somebody changed it while you write.</p>}
        <SaveOrCancel isSaving={state === 'saving'} onCancel={close} />
      </form>
    );
  }
  if (!canEdit) return <FixedValue name={name}>{children}</FixedValue>;
  const begin = () => {
    takeFocus();
    setDraft({ value, base: value, revision });
  };
  return (
    <ShownValue {...{ name, label, hasLinks, focus }} onEdit={begin}>
      {children}
    </ShownValue>
  );
}

/** A value, which is the button that opens its form, or has it beside. */
function ShownValue({
  name,
  label,
  hasLinks,
  focus,
  onEdit,
  children,
}: {
  name: string;
  label: string;
  hasLinks: boolean;
  focus: (node: HTMLElement | null) => void;
  onEdit: () => void;
  children: ReactNode;
}) {
  const id = useId();
  const button = {
    ref: focus,
    type: 'button',
    'data-edit': name,
    'aria-labelledby': `${id}-edit ${id}-value`,
    onClick: onEdit,
  } as const;
  const hint = <span id={`${id}-edit`} className={ui.hidden}>{`Edit ${label}:`}</span>;
  if (!hasLinks) {
    return (
      <button {...button} className={css.value}>
        {hint}
        <span id={`${id}-value`}>{children}</span>
      </button>
    );
  }
  return (
    <div className={css.rich}>
      <div id={`${id}-value`}>{children}</div>
      <button {...button} className={css.pen}>
        {hint}
        <Icon name="edit" size={14} />
      </button>
    </div>
  );
}

/** A property with its name, and what comes after its value. */
export const Term = <Value,>({
  term,
  label = term,
  after,
  ...editable
}: Omit<EditableProps<Value>, 'label'> & { term: string; label?: string; after?: ReactNode }) => (
  <div className={css.term}>
    <dt>{term}</dt>
    <dd>
      <Editable label={label} {...editable} />
      {after}
    </dd>
  </div>
);

/** Stands for an empty value. @param props `asks` is said to who may change it */
export const Nothing = ({ children = 'None', asks = 'Add' }: { children?: string; asks?: string }) => (
  <span className={ui.muted}>{useEdited().canEdit ? asks : children}</span>
);
