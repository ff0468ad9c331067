import type { CustomField } from '@tocsin/sdk';
import ui from '../ui/ui.module.css';
import { fieldEditor } from './editors.tsx';

/** Names a field for refusals. */
export const nameOf = (id: number | undefined) => `field ${id}`;

/** A custom field in the form that declares an incident. */
export function FieldInput({
  field,
  value,
  onValue,
}: {
  field: CustomField;
  value: unknown;
  onValue: (value: unknown) => void;
}) {
  const label = `${field.name}${field.required_on_creation ? ' (required)' : ''}`;
  return (
    <div className={ui.field}>
      <span className={ui.label} aria-hidden="true">
        {label}
      </span>
      {fieldEditor(field)(value, onValue, { name: nameOf(field.id), label, stored: undefined })}
      {field.description && <span className={ui.hint}>{field.description}</span>}
    </div>
  );
}
