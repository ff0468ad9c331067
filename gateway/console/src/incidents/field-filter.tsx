import type { CustomField } from '@tocsin/sdk';
import { useState } from 'react';
import { FormDialog } from '../ui/dialogs.tsx';
import { Input, Select, choices } from '../ui/fields.tsx';
import { type FieldFilter, filterValue, OPERATORS, optionsOf, YES_OR_NO } from './incident-filters.ts';

const INPUT_TYPES: Readonly<Record<string, string>> = { number: 'number', date: 'date' };

/** A filter by a custom field, with the operators and the values of its type. */
export function FieldFilterForm({
  fields,
  onAdd,
  onClose,
}: {
  fields: readonly CustomField[];
  onAdd: (filter: FieldFilter) => void;
  onClose: () => void;
}) {
  const filterable = fields.filter(({ field_type: type }) => OPERATORS[type] !== undefined);
  const [slug, setSlug] = useState(filterable[0]?.slug ?? '');
  const [operator, setOperator] = useState<string>();
  const [text, setText] = useState<string>();
  const field = filterable.find((each) => each.slug === slug);
  if (field === undefined) return null;
  const { field_type: type } = field;
  const operators = OPERATORS[type] ?? [];
  const values = type === 'boolean' ? YES_OR_NO : optionsOf(field);
  const chosen = operator ?? operators[0]?.[0] ?? '';
  const written = text ?? values[0]?.[0] ?? '';
  const value = filterValue(type, written);
  return (
    <FormDialog
      title="Filter by a custom field"
      error={null}
      label="Add filter"
      disabled={value === undefined}
      onSubmit={() => value !== undefined && onAdd({ slug, operator: chosen, value })}
      onClose={onClose}
    >
      <Select
        label="Field"
        options={choices(filterable, 'slug', 'name')}
        value={slug}
        onValue={(next) => {
          setSlug(next);
          setOperator(undefined);
          setText(undefined);
        }}
      />
      <Select label="Condition" options={operators} value={chosen} onValue={setOperator} />
      {values.length > 0 ? (
        <Select label="Value" options={values} value={written} onValue={setText} />
      ) : (
        <Input label="Value" type={INPUT_TYPES[type] ?? 'text'} value={written} onValue={setText} />
      )}
    </FormDialog>
  );
}
